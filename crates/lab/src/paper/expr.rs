//! The language of the expressions in experiment files.
//!
//! `cycles[baseline] / cycles[hlrc @ 8cu]` divides two quantities of runs. A quantity (the cycles,
//! a counter or an energy of one run) is a name, followed in brackets by a scenario (a protocol and
//! a policy) and optionally a variant (a named group of changes of the machine and the settings).
//! `.` is the current scenario, and a name without brackets means `[.]`. The operators are
//! `+ - * /`, `max(...)`, `min(...)`, `exp2(x)` (two to the power of `x`), `bits(x)` (the number of
//! binary digits of `x`) and `below(x, y)` (1 if `x` is below `y`, and 0 otherwise). A name may also
//! be a definition in `paper.toml`. An order is one or more comparisons joined by `and`:
//! `speedup[hlrc] >= speedup[rsp] and speedup[rsp] < 1`. `machine.KEY` is a number of the machine of
//! the variant, and `setting.NAME` the value that the protocol's setting has there.

use core::fmt;
use std::collections::BTreeMap;

/// An expression whose value is computed from the results of runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant number.
    Number(f64),
    /// A quantity of a run (its cycles, a counter or an energy): the name of the quantity, and the
    /// run.
    Quantity(String, At),
    /// Two expressions joined by an operator.
    Binary(char, Box<Expr>, Box<Expr>),
    /// A function of one or more expressions.
    Call(Function, Vec<Expr>),
}

/// A function of one or more values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// The largest of several values.
    Max,
    /// The smallest of several values.
    Min,
    /// Two to the power of the value.
    Exp2,
    /// The number of binary digits of the value, without its fraction.
    Bits,
    /// 1 if the first value is below the second value, and 0 otherwise.
    Below,
}

impl Function {
    fn find(name: &str) -> Option<Function> {
        match name {
            "max" => Some(Function::Max),
            "min" => Some(Function::Min),
            "exp2" => Some(Function::Exp2),
            "bits" => Some(Function::Bits),
            "below" => Some(Function::Below),
            _ => None,
        }
    }

    /// The number of values that the function takes. `None` if it takes any number of values.
    fn arity(self) -> Option<usize> {
        match self {
            Function::Max | Function::Min => None,
            Function::Exp2 | Function::Bits => Some(1),
            Function::Below => Some(2),
        }
    }

    fn value(self, of: &[f64]) -> f64 {
        let all = of.iter().copied();
        match self {
            Function::Max => all.fold(f64::NEG_INFINITY, f64::max),
            Function::Min => all.fold(f64::INFINITY, f64::min),
            Function::Exp2 => all.sum::<f64>().exp2(),
            Function::Bits => f64::from(u64::BITS - (all.sum::<f64>() as u64).leading_zeros()),
            Function::Below => f64::from(u8::from(of[0] < of[1])),
        }
    }
}

/// The run that a quantity belongs to, given by its scenario (a protocol and a policy) and its
/// variant (a named group of changes of the machine and the settings). `None` means the scenario or
/// variant for which the expression is evaluated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// The name of the scenario.
    pub scenario: Option<String>,
    /// The name of the variant.
    pub variant: Option<String>,
}

/// A relation between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The left value is below the right value. The confidence interval of the difference (left
    /// minus right) is below zero.
    Less,
    /// The left value is above the right value. The confidence interval of the difference (left
    /// minus right) is above zero.
    Greater,
    /// The left value is above the right value, or below the right value by no more than the
    /// tolerance.
    AtLeast,
    /// The left value is below the right value, or above the right value by no more than the
    /// tolerance.
    AtMost,
    /// The two values are equal within the tolerance.
    Alike,
}

/// One comparison of an order (one or more comparisons joined by `and`).
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The expression to the left of the comparison's operator.
    pub left: Expr,
    /// The relation that the comparison states between the values of `left` and `right`.
    pub relation: Relation,
    /// The expression to the right of the comparison's operator.
    pub right: Expr,
    /// The text of the comparison, as the experiment file writes it.
    pub text: String,
}

/// An error in the text of an expression, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError {
    /// The number of bytes of the text before the error.
    pub offset: usize,
    /// The text of the error: what was found and what was expected.
    pub message: String,
}

/// The definitions of a paper's experiment files: an expression for each defined name.
pub type Definitions = BTreeMap<String, Expr>;

/// The reason why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// A run was not made. The text names the run.
    NotRun(String),
    /// A quantity of a run is missing: the run has no right answer, or has no counter for the
    /// quantity. The text gives the reason.
    Missing(String),
    /// The value would need a division by zero.
    Undefined,
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoValue::NotRun(run) => write!(f, "{run} was not run"),
            NoValue::Missing(what) => f.write_str(what),
            NoValue::Undefined => f.write_str("a division by zero"),
        }
    }
}

impl Expr {
    /// Returns true if the form of the expression ensures that its value is at least zero. A
    /// quantity of a run is always at least zero.
    pub(crate) fn is_amount(&self) -> bool {
        match self {
            Expr::Number(number) => *number >= 0.0,
            Expr::Quantity(..) => true,
            Expr::Binary('-', ..) => false,
            Expr::Binary(_, left, right) => left.is_amount() && right.is_amount(),
            Expr::Call(Function::Max, all) => all.iter().any(Expr::is_amount),
            Expr::Call(Function::Min, all) => all.iter().all(Expr::is_amount),
            Expr::Call(Function::Exp2 | Function::Bits | Function::Below, _) => true,
        }
    }

    /// The number of terms of the expression. Each number, quantity and function is a term.
    fn terms(&self) -> usize {
        match self {
            Expr::Number(_) | Expr::Quantity(..) => 1,
            Expr::Binary(_, left, right) => left.terms() + right.terms(),
            Expr::Call(_, of) => 1 + of.iter().map(Expr::terms).sum::<usize>(),
        }
    }

    /// Parses an expression.
    ///
    /// # Errors
    /// If the text has a syntax error (the error describes the first), or if the expression has too
    /// many terms.
    pub fn parse(text: &str, definitions: &Definitions) -> Result<Expr, ExprError> {
        let mut parser = Parser { text, at: 0, depth: 0, terms: 0, definitions };
        let expr = parser.sum()?;
        parser.end()?;
        Ok(expr)
    }

    /// Evaluates the expression. The function `quantity` returns the value of a quantity, given its
    /// name and its run.
    ///
    /// # Errors
    /// If a quantity is missing, or a divisor is zero.
    pub fn value(&self, quantity: &dyn Fn(&str, &At) -> Result<f64, NoValue>) -> Result<f64, NoValue> {
        match self {
            Expr::Number(number) => Ok(*number),
            Expr::Quantity(name, at) => quantity(name, at),
            Expr::Binary(operator, left, right) => {
                let (left, right) = (left.value(quantity)?, right.value(quantity)?);
                match operator {
                    '+' => Ok(left + right),
                    '-' => Ok(left - right),
                    '*' => Ok(left * right),
                    _ if right == 0.0 => Err(NoValue::Undefined),
                    _ => Ok(left / right),
                }
            }
            Expr::Call(function, of) => {
                let values = of.iter().map(|expr| expr.value(quantity)).collect::<Result<Vec<_>, _>>()?;
                Ok(function.value(&values))
            }
        }
    }

    /// Calls `visit` for every quantity in the expression, with the name of the quantity and its
    /// run.
    pub fn quantities(&self, visit: &mut dyn FnMut(&str, &At)) {
        match self {
            Expr::Number(_) => {}
            Expr::Quantity(name, at) => visit(name, at),
            Expr::Binary(_, left, right) => {
                left.quantities(visit);
                right.quantities(visit);
            }
            Expr::Call(_, of) => of.iter().for_each(|expr| expr.quantities(visit)),
        }
    }

    /// Returns a copy of the expression with new names of quantities. The function `name` returns
    /// the new name for an old name.
    pub(crate) fn renamed(&self, name: &dyn Fn(&str) -> String) -> Expr {
        match self {
            Expr::Number(number) => Expr::Number(*number),
            Expr::Quantity(old, at) => Expr::Quantity(name(old), at.clone()),
            Expr::Binary(operator, left, right) => {
                Expr::Binary(*operator, Box::new(left.renamed(name)), Box::new(right.renamed(name)))
            }
            Expr::Call(function, of) => {
                Expr::Call(*function, of.iter().map(|expr| expr.renamed(name)).collect())
            }
        }
    }

    /// Returns a copy of the expression in which every quantity names a scenario and a variant. If
    /// a quantity lacks one of these names, the copy takes it from `at`.
    pub(super) fn placed(&self, at: &At) -> Expr {
        match self {
            Expr::Number(number) => Expr::Number(*number),
            Expr::Quantity(name, own) => {
                let scenario = own.scenario.clone().or_else(|| at.scenario.clone());
                let variant = own.variant.clone().or_else(|| at.variant.clone());
                Expr::Quantity(name.clone(), At { scenario, variant })
            }
            Expr::Binary(operator, left, right) => {
                Expr::Binary(*operator, Box::new(left.placed(at)), Box::new(right.placed(at)))
            }
            Expr::Call(function, of) => Expr::Call(*function, of.iter().map(|e| e.placed(at)).collect()),
        }
    }
}

impl Comparison {
    /// Parses an order: one or more comparisons joined by `and`.
    ///
    /// # Errors
    /// If the text has a syntax error (the error describes the first), or if the order has too many
    /// terms.
    pub fn parse_all(text: &str, definitions: &Definitions) -> Result<Vec<Comparison>, ExprError> {
        let mut parser = Parser { text, at: 0, depth: 0, terms: 0, definitions };
        let mut all = Vec::new();
        loop {
            parser.blanks();
            let from = parser.at;
            let left = parser.sum()?;
            let relation = parser.relation()?;
            let right = parser.sum()?;
            all.push(Comparison { left, relation, right, text: text[from..parser.at].trim().to_owned() });
            if !parser.take("and") {
                parser.end()?;
                return Ok(all);
            }
        }
    }
}

/// The maximum nesting depth of brackets.
const DEPTH_MAX: u32 = 32;

/// The maximum number of terms of an expression, or of an order (comparisons joined by `and`). Each
/// number, quantity and function is a term. The terms of the definitions that the
/// expression uses are included. This limit also bounds the depth of the expression's tree, and so
/// the depth of recursive functions.
const TERMS_MAX: usize = 1000;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
    /// The number of terms parsed so far.
    terms: usize,
    definitions: &'a Definitions,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, ExprError> {
        let found = match self.rest().chars().next() {
            Some(letter) => format!("`{}`", letter.escape_default()),
            None => "the end".to_owned(),
        };
        Err(ExprError { offset: self.at, message: format!("found {found}, expected {expected}") })
    }

    /// Adds `terms` to the number of terms. Returns an error if the number is now too large. `from`
    /// is the byte offset at which the added terms begin.
    fn count(&mut self, terms: usize, from: usize) -> Result<(), ExprError> {
        self.terms += terms;
        if self.terms <= TERMS_MAX {
            return Ok(());
        }
        let message = format!("found more than {TERMS_MAX} terms, expected a shorter formula");
        Err(ExprError { offset: from, message })
    }

    fn expect(&mut self, token: &str) -> Result<(), ExprError> {
        if self.take(token) { Ok(()) } else { self.wrong(&format!("`{token}`")) }
    }

    fn end(&mut self) -> Result<(), ExprError> {
        self.blanks();
        if self.rest().is_empty() { Ok(()) } else { self.wrong("an operator or the end of the formula") }
    }

    fn relation(&mut self) -> Result<Relation, ExprError> {
        const ALL: [(&str, Relation); 5] = [
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("<", Relation::Less),
            (">", Relation::Greater),
            ("~", Relation::Alike),
        ];
        match ALL.into_iter().find(|(token, _)| self.take(token)) {
            Some((_, relation)) => Ok(relation),
            None => self.wrong("one of < <= > >= ~"),
        }
    }

    fn sum(&mut self) -> Result<Expr, ExprError> {
        self.joined(&["+", "-"], Self::product)
    }

    fn product(&mut self) -> Result<Expr, ExprError> {
        self.joined(&["*", "/"], Self::atom)
    }

    fn joined(
        &mut self,
        operators: &[&str],
        part: fn(&mut Self) -> Result<Expr, ExprError>,
    ) -> Result<Expr, ExprError> {
        let mut left = part(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let operator = operator.chars().next().unwrap_or('+');
            left = Expr::Binary(operator, Box::new(left), Box::new(part(self)?));
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Expr, ExprError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.wrong("a formula with fewer nested brackets");
        }
        self.blanks();
        let expr = match self.rest().chars().next() {
            Some('(') => {
                self.at += 1;
                let inner = self.sum()?;
                self.expect(")")?;
                inner
            }
            Some('0'..='9') => self.number()?,
            Some(letter) if letter.is_ascii_alphabetic() => self.named()?,
            _ => return self.wrong("a number, a quantity or `(`"),
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn number(&mut self) -> Result<Expr, ExprError> {
        let end = self.rest().find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest().len());
        match self.rest()[..end].parse() {
            Ok(number) => {
                self.count(1, self.at)?;
                self.at += end;
                Ok(Expr::Number(number))
            }
            Err(_) => self.wrong("a number"),
        }
    }

    fn named(&mut self) -> Result<Expr, ExprError> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '-';
        // A minus sign belongs to a name only if letters stand on both sides of it, as in
        // `messages.Fwd-GetM`.
        let end = self.rest().find(|c| !is_name(c) || c == '-').unwrap_or(self.rest().len());
        let name = self.rest()[..end].to_owned();
        let from = self.at;
        self.at += end;
        if let Some(function) = Function::find(&name) {
            self.count(1, from)?;
            return self.call(function);
        }
        let at = if self.take("[") { self.place()? } else { At::default() };
        let defined = self.definitions.get(&name);
        self.count(defined.map_or(1, Expr::terms), from)?;
        Ok(match defined {
            Some(defined) => defined.placed(&at),
            None => Expr::Quantity(name, at),
        })
    }

    /// The values of a function, in brackets.
    fn call(&mut self, function: Function) -> Result<Expr, ExprError> {
        self.expect("(")?;
        let mut of = vec![self.sum()?];
        while function.arity().is_none_or(|arity| of.len() < arity) && self.take(",") {
            of.push(self.sum()?);
        }
        if function.arity().is_some_and(|arity| of.len() < arity) {
            return self.wrong("`,` and a further value");
        }
        self.expect(")")?;
        Ok(Expr::Call(function, of))
    }

    fn place(&mut self) -> Result<At, ExprError> {
        let Some(length) = self.rest().find(']') else {
            self.at = self.text.len();
            return self.wrong("`]`");
        };
        let inner = self.rest()[..length].to_owned();
        let (scenario, variant) = match inner.split_once('@') {
            Some((scenario, variant)) => (scenario.trim(), Some(variant.trim())),
            None => (inner.trim(), None),
        };
        if scenario.is_empty() || variant.is_some_and(str::is_empty) {
            return self.wrong("`[SCENARIO]` or `[SCENARIO @ VARIANT]`");
        }
        self.at += length + 1;
        let scenario = (scenario != ".").then(|| scenario.to_owned());
        Ok(At { scenario, variant: variant.map(str::to_owned) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(name: &str, at: &At) -> Result<f64, NoValue> {
        let of = at.scenario.as_deref().unwrap_or("here");
        match (name, of, at.variant.as_deref()) {
            ("cycles", "a-b", None) => Ok(10.0),
            ("cycles", "a-b", Some("8cu")) => Ok(100.0),
            ("cycles", "here", None) => Ok(4.0),
            ("messages.GetS", "here", None) => Ok(7.0),
            _ => Err(NoValue::Missing(format!("{name} of {of}"))),
        }
    }

    fn value(text: &str) -> Result<f64, NoValue> {
        let mut definitions = Definitions::new();
        let speedup = Expr::parse("cycles[a-b] / cycles", &definitions).unwrap();
        definitions.insert("speedup".to_owned(), speedup);
        Expr::parse(text, &definitions).unwrap().value(&quantity)
    }

    #[test]
    fn values_follow_the_usual_precedence_and_definitions_take_a_place() {
        assert_eq!(value("1 + 2 * 3 - 8 / 4 - 1"), Ok(4.0));
        assert_eq!(value("(1 + 2) * 3"), Ok(9.0));
        assert_eq!(value("cycles[a-b]/cycles"), Ok(2.5));
        assert_eq!(value("speedup[a-b]"), Ok(1.0));
        assert_eq!(value("speedup"), Ok(2.5));
        assert_eq!(value("speedup[a-b @ 8cu] + cycles[ a-b @ 8cu ]"), Ok(101.0));
        assert_eq!(value("max(1, cycles, 2) + min(3,messages.GetS)"), Ok(7.0));
        assert_eq!(value("exp2(cycles) + exp2(0)"), Ok(17.0));
        assert_eq!(value("100 * bits(7) + 10 * bits(8) + bits(0)"), Ok(340.0));
        assert_eq!(value("below(cycles, 5) + below(cycles, 4) + below(3, 2)"), Ok(1.0));
        assert_eq!(value("1 / (cycles - 4)"), Err(NoValue::Undefined));
        assert_eq!(value("cycles[x]"), Err(NoValue::Missing("cycles of x".to_owned())));
    }

    #[test]
    fn orders_are_comparisons_joined_by_and() {
        let order = Comparison::parse_all("a[x] >= max(b, 1) and c ~ d", &Definitions::new()).unwrap();
        let shown: Vec<_> = order.iter().map(|c| (c.relation, c.text.as_str())).collect();
        assert_eq!(shown, [(Relation::AtLeast, "a[x] >= max(b, 1)"), (Relation::Alike, "c ~ d")]);
    }

    #[test]
    fn an_expression_has_at_most_a_thousand_terms_with_those_of_its_definitions() {
        let none = Definitions::new();
        let sum = |terms: usize| vec!["a"; terms].join("+");
        let too_long = |text: &str, definitions: &Definitions| {
            let wrong = Expr::parse(text, definitions).unwrap_err();
            assert_eq!(wrong.message, "found more than 1000 terms, expected a shorter formula");
            wrong.offset
        };
        let longest = Expr::parse(&sum(1000), &none).unwrap();
        assert_eq!(longest.value(&|_, _| Ok(1.0)), Ok(1000.0));
        assert_eq!(too_long(&sum(1001), &none), 2000);
        assert_eq!(too_long(&sum(40_000), &none), 2000);
        assert_eq!(too_long(&vec!["1"; 40_000].join("*"), &none), 2000);
        assert_eq!(too_long(&format!("min({})", sum(1000)), &none), 4 + 2 * 999);
        // In the first case each definition is twice as long as the definition before it. In the
        // second case it is one level deeper.
        let grown = |next: &dyn Fn(&str) -> String| {
            let mut definitions = Definitions::from([("d0".to_owned(), Expr::parse("a", &none).unwrap())]);
            for at in 1..100_000 {
                match Expr::parse(&next(&format!("d{}", at - 1)), &definitions) {
                    Ok(value) => drop(definitions.insert(format!("d{at}"), value)),
                    Err(wrong) => return (at, wrong.offset),
                }
            }
            panic!("definitions grow without a limit");
        };
        assert_eq!(grown(&|last| format!("{last} + {last}")), (10, 5));
        assert_eq!(grown(&|last| format!("max({last})")), (1000, 4));
        let order = Comparison::parse_all(&format!("{} > {}", sum(600), sum(600)), &none).unwrap_err();
        assert_eq!(order.offset, 2 * 599 + 4 + 2 * 400);
    }

    #[test]
    fn a_syntax_error_has_its_place() {
        let wrong = |text: &str| {
            let wrong = Expr::parse(text, &Definitions::new()).unwrap_err();
            (wrong.offset, wrong.message)
        };
        assert_eq!(wrong("1 +"), (3, "found the end, expected a number, a quantity or `(`".to_owned()));
        assert_eq!(wrong("(1"), (2, "found the end, expected `)`".to_owned()));
        assert_eq!(wrong("1 2").0, 2);
        assert_eq!(wrong("a[").0, 2);
        assert_eq!(wrong("exp2(1, 2)"), (6, "found `,`, expected `)`".to_owned()));
        assert_eq!(wrong("below(1)"), (7, "found `)`, expected `,` and a further value".to_owned()));
        assert_eq!(wrong("a[x @]").0, 2);
        assert_eq!(wrong("1.2.3").0, 0);
        assert_eq!(wrong("é").0, 0);
        assert_eq!(wrong(&"(".repeat(100_000)).0, 32);
        let order = Comparison::parse_all("1 + 2", &Definitions::new()).unwrap_err();
        assert_eq!((order.offset, order.message.contains("one of <")), (5, true));
    }
}
