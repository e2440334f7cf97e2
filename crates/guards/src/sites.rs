//! Finds the sites of a source text: the expressions that make decisions, each with its mutations
//! (seeded faults).

use core::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprCall, ExprClosure, ExprMatch, ExprMethodCall,
    ImplItemFn, ItemFn, ItemMod, Lit, Pat, ReturnType, Signature, Stmt, TraitItemFn, Type, UnOp,
};

use crate::edit::{Edits, on_one_line};

/// A site: an expression of a source text with one or more mutations (seeded faults).
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The number of the line where the expression begins, counted from 1.
    pub(crate) line: usize,
    /// The function that contains the expression.
    pub(crate) function: String,
    /// The number of the first mutation of the expression. Its other mutations have the numbers
    /// that follow.
    pub(crate) first: u32,
    /// A description of each mutation in words, which becomes a part of the mutant's name.
    pub(crate) mutations: Vec<String>,
}

/// An expression or a function that gets no mutation, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unseeded {
    pub(crate) line: usize,
    pub(crate) reason: &'static str,
}

/// The sites (expressions with mutations) of a source text, with the edits that rewrite these
/// expressions.
#[derive(Debug)]
pub(crate) struct SourceScan {
    pub(crate) sites: Vec<Site>,
    pub(crate) edits: Edits,
    pub(crate) unseeded: Vec<Unseeded>,
}

/// The reason why an expression in a constant function gets no mutation: the compiler may evaluate
/// it, so it cannot be changed at run time.
pub(crate) const IN_CONST: &str = "evaluated at compile time";
/// The reason why an expression gets no mutation if it only changes counters of the statistics.
pub(crate) const STATISTICS: &str = "statistics, which no protocol reads";
/// Texts that mark a statement as one that only counts events, or that attributes time to a cause.
/// Such a statement gets no mutation.
const COUNTS: [&str; 4] = ["uses.", "stats", "coverage", "spend"];
/// The reason why a part of a controller gets no mutation if it only checks the controller's own
/// state: no step reads the result, and a check that is too weak hides nothing in a correct
/// protocol.
pub(crate) const CHECK: &str = "a check of a controller's state, which no step reads";
/// The reason why an expression gets no mutation if it only computes the size of a message.
pub(crate) const SIZE: &str = "the size of a message, which only sets its cost";
/// The functions and fields that give parts of the size of a message.
const SIZES: [&str; 4] = ["stamp_bytes", "grant_bytes", "answer_bytes", "operand_bytes"];
/// The reason why an expression in the body of a macro gets no mutation.
pub(crate) const IN_MACRO: &str = "in a macro";
/// The reason why a function gets no mutation if it only produces text for reports.
pub(crate) const TEXT: &str = "text for reports";

/// Finds the sites (expressions with mutations) of a source text. `switch` is the Rust path of the
/// switch, which selects a mutant at run time. `first` is the number to give to the first mutation.
pub(crate) fn find(source: &str, switch: &str, first: u32) -> Result<SourceScan, syn::Error> {
    let file = syn::parse_file(source)?;
    let scan = SourceScan { sites: Vec::new(), edits: Edits::default(), unseeded: Vec::new() };
    let mut finder = Finder { source, switch, next: first, function: String::new(), scan };
    finder.visit_file(&file);
    Ok(finder.scan)
}

struct Finder<'a> {
    source: &'a str,
    switch: &'a str,
    next: u32,
    /// The name of the function whose code is being visited. Empty outside functions.
    function: String,
    scan: SourceScan,
}

/// Methods whose last argument is a predicate: a closure that returns a truth value.
const WITH_PREDICATE: [&str; 12] = [
    "all",
    "any",
    "filter",
    "find",
    "is_none_or",
    "is_some_and",
    "position",
    "retain",
    "rposition",
    "skip_while",
    "take_while",
    "partition",
];
/// Methods of masks and numbers, each with a list of other methods. Each mutation replaces a call
/// of the method by a call of one method in its list.
const OF_VALUES: [(&str, &[&str]); 7] = [
    ("contains", &["overlaps"]),
    ("overlaps", &["contains"]),
    ("union", &["minus", "and"]),
    ("minus", &["union", "and"]),
    ("and", &["union", "minus"]),
    ("min", &["max"]),
    ("max", &["min"]),
];
/// Pairs of methods, such as `push_back` and `push_front`. A mutation replaces a call of the first
/// method of a pair by a call of the second method.
const OTHER: [(&str, &str); 18] = [
    ("any", "all"),
    ("all", "any"),
    ("first", "last"),
    ("last", "first"),
    ("front", "back"),
    ("back", "front"),
    ("push_back", "push_front"),
    ("push_front", "push_back"),
    ("pop_front", "pop_back"),
    ("pop_back", "pop_front"),
    ("is_some", "is_none"),
    ("is_none", "is_some"),
    ("position", "rposition"),
    ("rposition", "position"),
    ("wrapping_add", "wrapping_sub"),
    ("wrapping_sub", "wrapping_add"),
    ("filter", "skip_while"),
    ("take_while", "skip_while"),
];

/// The operators by which mutations replace the operator `op`. `None` means a mutation that
/// replaces the whole expression by its left operand.
fn others(op: &BinOp) -> &'static [Option<&'static str>] {
    match op {
        BinOp::Eq(_) => &[Some("!=")],
        BinOp::Ne(_) => &[Some("==")],
        BinOp::Lt(_) => &[Some("<="), Some(">=")],
        BinOp::Le(_) => &[Some("<"), Some(">")],
        BinOp::Gt(_) => &[Some(">="), Some("<=")],
        BinOp::Ge(_) => &[Some(">"), Some("<")],
        BinOp::Add(_) => &[Some("-"), None],
        BinOp::Sub(_) => &[Some("+"), None],
        BinOp::BitAnd(_) => &[Some("|"), None],
        BinOp::BitOr(_) => &[Some("&"), None],
        BinOp::BitXor(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => &[None],
        BinOp::Shl(_) => &[Some(">>"), None],
        BinOp::Shr(_) => &[Some("<<"), None],
        _ => &[],
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "test")
    })
}

/// Whether an expression is a path to a constant or to a variant of an enumeration: its last name
/// begins with a capital letter.
fn constant(expr: &Expr) -> bool {
    let Expr::Path(path) = expr else { return false };
    let name = path.path.segments.last().map(|segment| segment.ident.to_string());
    name.is_some_and(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
}

fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            has_let(&binary.left) || has_let(&binary.right)
        }
        _ => false,
    }
}

impl Finder<'_> {
    fn text(&self, range: &Range<usize>) -> &str {
        &self.source[range.clone()]
    }

    fn of(&self, part: &impl Spanned) -> String {
        self.text(&part.span().byte_range()).to_owned()
    }

    /// Adds a site (an expression with mutations) at this place of the source. Returns its index
    /// and the number of its first mutation.
    fn site(&mut self, at: Span, mutations: Vec<String>) -> (usize, u32) {
        let (index, first) = (self.scan.sites.len(), self.next);
        self.next += mutations.len() as u32;
        let (line, function) = (at.start().line, self.function.clone());
        self.scan.sites.push(Site { line, function, first, mutations });
        (index, first)
    }

    fn wrap(&mut self, at: Span, mutations: Vec<String>, around: impl FnOnce(u32, &str) -> (String, String)) {
        let (site, first) = self.site(at, mutations);
        let (open, close) = around(first, self.switch);
        self.scan.edits.wrap(site, &at.byte_range(), open, close);
    }

    /// Rewrites an expression as an argument of a call of `function`, a function of the switch,
    /// which selects a mutant at run time. The call's other argument is the number of the first
    /// mutation in `mutations`.
    fn call(&mut self, at: Span, function: &str, mutations: Vec<String>) {
        self.wrap(at, mutations, |first, switch| {
            (format!("{switch}::{function}({first}, "), String::from(")"))
        });
    }

    /// Adds a mutation of the expression at `at`: it evaluates the code `other` instead of the
    /// expression.
    fn instead(&mut self, at: Span, other: &str, mutation: String) {
        self.wrap(at, vec![mutation], |first, switch| {
            (format!("(if {switch}::is({first}) {{ {other} }} else {{ "), String::from(" })"))
        });
    }

    fn unseeded(&mut self, at: Span, reason: &'static str) {
        self.scan.unseeded.push(Unseeded { line: at.start().line, reason });
    }

    /// Adds two mutations of the condition of a branch: the condition is always true, and the
    /// condition is always false.
    fn condition(&mut self, condition: &Expr, whose: &str) {
        match condition {
            Expr::Let(_) => {}
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) && has_let(condition) => {
                self.condition(&binary.left, whose);
                self.condition(&binary.right, whose);
            }
            _ => {
                let text = on_one_line(&self.of(condition)).unwrap_or_else(|| String::from("the condition"));
                let forced = |to: &str| format!("`{text}` of {whose} is {to}");
                self.call(condition.span(), "when", vec![forced("true"), forced("false")]);
            }
        }
    }

    /// Adds a mutation that negates `value`, a returned truth value, if it is a call, a path or a
    /// field. Other expressions, such as `a == b`, have negating mutations of their own. `what`
    /// names the value in the mutation's text.
    fn returned(&mut self, value: &Expr, what: &str) {
        match value {
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Path(_) | Expr::Field(_) | Expr::Macro(_) => {
                self.call(value.span(), "negated", vec![format!("{what} negated")]);
            }
            _ => {}
        }
    }

    fn function(&mut self, signature: &Signature, body: &Block, visit: impl FnOnce(&mut Self)) {
        let reason = match &signature.output {
            _ if signature.constness.is_some() => Some(IN_CONST),
            _ if ["fmt", "name", "conditions"].iter().any(|text| signature.ident == text) => Some(TEXT),
            _ if signature.ident == "miscount" => Some(CHECK),
            _ if signature.ident == "spends" => Some(STATISTICS),
            _ if SIZES.iter().any(|size| signature.ident == size) => Some(SIZE),
            ReturnType::Type(_, output) if self.of(&**output).contains("String") => Some(TEXT),
            _ => None,
        };
        if let Some(reason) = reason {
            self.unseeded(signature.ident.span(), reason);
            return;
        }
        let outer = core::mem::replace(&mut self.function, signature.ident.to_string());
        let is_bool = matches!(&signature.output, ReturnType::Type(_, output)
            if matches!(&**output, Type::Path(path) if path.path.is_ident("bool")));
        if let (true, Some(Stmt::Expr(value, None))) = (is_bool, body.stmts.last()) {
            self.returned(value, "the result");
        }
        visit(self);
        self.function = outer;
    }

    /// Whether an expression computes the size of a message: a sum, a product or a choice, on one
    /// line, in which a size occurs.
    fn is_size(&self, expr: &Expr) -> bool {
        let computes = match expr {
            Expr::Binary(binary) => matches!(binary.op, BinOp::Add(_) | BinOp::Mul(_)),
            Expr::If(_) => true,
            _ => false,
        };
        computes && {
            let text = self.of(expr);
            !text.contains('\n') && SIZES.iter().any(|size| text.contains(size))
        }
    }

    fn binary(&mut self, binary: &ExprBinary) {
        let (left, right) = (binary.left.span().byte_range(), binary.right.span().byte_range());
        let whole = left.start..right.end;
        let text = on_one_line(self.text(&whole)).unwrap_or_else(|| self.of(&binary.op));
        let (op, between) = (self.of(&binary.op), left.end..right.start);
        if let BinOp::And(_) | BinOp::Or(_) = binary.op {
            let (name, other, decisive) = match binary.op {
                BinOp::And(_) => ("and", "||", "false"),
                _ => ("or", "&&", "true"),
            };
            let mutations = vec![
                format!("`{op}` of `{text}` to `{other}`"),
                format!("`{text}` without the left operand"),
                format!("`{text}` without the right operand"),
            ];
            let (site, first) = self.site(binary.span(), mutations);
            let switch = self.switch;
            let middle =
                format!("; if {switch}::{name}_goes_on({first}, __left) {{ {switch}::joins({first}, ");
            let close = format!(", {decisive}) }} else {{ __left }} }})");
            self.scan.edits.wrap(site, &whole, String::from("({ let __left = "), close);
            self.scan.edits.replace(site, &between, &middle);
            return;
        }
        let others = others(&binary.op);
        if others.is_empty() {
            return;
        }
        let mutation = |other: &Option<&str>| match other {
            Some(other) => format!("`{op}` of `{text}` to `{other}`"),
            None => format!("`{text}` without the right operand"),
        };
        let (site, first) = self.site(binary.span(), others.iter().map(mutation).collect());
        let is_comparison = others.iter().flatten().any(|other| other.contains(['=', '<']) && *other != "<<");
        let (open, comma, close, deref) = match is_comparison {
            true => ("(match (&(", "), &(", "))", "*"),
            false => ("(match ((", "), (", "))", ""),
        };
        let variants: Vec<String> = others
            .iter()
            .map(|other| match other {
                Some(other) => format!("{deref}__left {other} {deref}__right"),
                None => String::from("__left"),
            })
            .collect();
        let close = format!(
            "{close} {{ (__left, __right) => {}::choose({first}, {deref}__left {op} {deref}__right, [{}]) }})",
            self.switch,
            variants.join(", ")
        );
        self.scan.edits.wrap(site, &whole, open.to_owned(), close);
        self.scan.edits.replace(site, &between, comma);
    }

    fn method(&mut self, call: &ExprMethodCall) {
        let (name, span) = (call.method.to_string(), call.span());
        let receiver = call.receiver.span().byte_range();
        let text = on_one_line(&self.of(call)).unwrap_or_else(|| format!(".{name}(..)"));
        if let (Some((_, others)), Some(argument), None) =
            (OF_VALUES.iter().find(|(known, _)| *known == name), call.args.first(), call.args.get(1))
        {
            let mut mutations: Vec<String> =
                others.iter().map(|other| format!("`{name}` of `{text}` to `{other}`")).collect();
            let mut variants: Vec<String> =
                others.iter().map(|other| format!("__left.{other}(__right)")).collect();
            if !matches!(name.as_str(), "contains" | "overlaps") {
                mutations.push(format!("`{text}` without `{name}`"));
                variants.push(String::from("__left"));
            }
            let (site, first) = self.site(span, mutations);
            let close = format!(
                ") {{ (__left, __right) => {}::choose({first}, __left.{name}(__right), [{}]) }})",
                self.switch,
                variants.join(", ")
            );
            let argument = argument.span().byte_range();
            self.scan.edits.wrap(site, &span.byte_range(), String::from("(match ("), close);
            self.scan.edits.replace(site, &(receiver.end..argument.start), ", ");
            self.scan.edits.replace(site, &(argument.end..span.byte_range().end), "");
            return;
        }
        let rest = receiver.end..span.byte_range().end;
        if let Some((_, other)) = OTHER.iter().find(|(known, _)| *known == name)
            && let Some(before) = on_one_line(self.text(&receiver))
            && let Some(after) = on_one_line(self.text(&rest))
        {
            let after = after.trim_start().replacen(&name, other, 1);
            self.instead(span, &format!("{before}{after}"), format!("`{name}` of `{text}` to `{other}`"));
        }
        if WITH_PREDICATE.contains(&name.as_str())
            && let Some(Expr::Closure(closure)) = call.args.last()
        {
            self.returned(&closure.body, "the predicate");
        }
    }

    /// Adds a mutation that leaves out a statement. Returns false if the statement only counts
    /// events. Then neither the statement nor an expression inside it gets a mutation.
    fn statement(&mut self, expr: &Expr) -> bool {
        let text = self.of(expr);
        let is_call = matches!(expr, Expr::Call(_) | Expr::MethodCall(_));
        let compound = match expr {
            Expr::Binary(binary) => match binary.op {
                BinOp::AddAssign(_) => Some(Some("-=")),
                BinOp::SubAssign(_) => Some(Some("+=")),
                BinOp::BitOrAssign(_) => Some(Some("&=")),
                BinOp::BitAndAssign(_) => Some(Some("|=")),
                BinOp::ShlAssign(_) | BinOp::ShrAssign(_) | BinOp::BitXorAssign(_) => Some(None),
                _ => None,
            },
            _ => None,
        };
        if !is_call && compound.is_none() && !matches!(expr, Expr::Assign(_)) {
            return true;
        }
        if COUNTS.iter().any(|count| text.contains(count)) {
            self.unseeded(expr.span(), STATISTICS);
            return false;
        }
        let short = on_one_line(&text).unwrap_or_else(|| text.lines().next().unwrap_or_default().to_owned());
        self.wrap(expr.span(), vec![format!("without `{short}`")], |first, switch| {
            (format!("if !{switch}::is({first}) {{ "), String::from("; }"))
        });
        if let (Some(Some(other)), Expr::Binary(binary)) = (compound, expr)
            && let Some(text) = on_one_line(&text)
        {
            let op = self.of(&binary.op);
            let alternative = text.replacen(&op, other, 1);
            let mutation = format!("`{op}` of `{short}` to `{other}`");
            self.instead(expr.span(), &alternative, mutation);
        }
        true
    }

    fn literal(&mut self, span: Span, lit: &Lit) {
        match lit {
            Lit::Bool(value) => {
                self.call(span, "negated", vec![format!("`{}` to `{}`", value.value, !value.value)])
            }
            Lit::Int(int) => {
                let Ok(value) = int.base10_parse::<u128>() else { return };
                let mut other = |value: u128| {
                    let (text, suffix) = (self.of(&int.span()), int.suffix());
                    self.instead(span, &format!("{value}{suffix}"), format!("`{text}` to `{value}`"));
                };
                if let Some(more) = value.checked_add(1) {
                    other(more);
                }
                if value > 0 {
                    other(value - 1);
                }
            }
            _ => {}
        }
    }

    /// Adds mutations to the arms of a `match` whose values are constants: in each mutation, one
    /// arm gives the value of another arm.
    fn arms(&mut self, all: &ExprMatch) {
        let bodies: Vec<&Expr> =
            all.arms.iter().map(|arm| &*arm.body).filter(|body| constant(body)).collect();
        for (at, body) in bodies.iter().enumerate() {
            let text = self.of(*body);
            let others = bodies.iter().cycle().skip(at + 1).take(bodies.len());
            let other = others.map(|other| self.of(*other)).find(|other| *other != text);
            if let Some(other) = other {
                self.instead(body.span(), &other, format!("`{text}` to `{other}`"));
            }
        }
    }

    /// Adds mutations to a `matches!` test whose pattern has alternatives: each mutation leaves out
    /// one alternative.
    fn matches(&mut self, call: &syn::Macro, span: Span) {
        if !call.path.is_ident("matches") {
            return;
        }
        let parsed = call.parse_body_with(|input: syn::parse::ParseStream<'_>| {
            input.parse::<Expr>()?;
            input.parse::<syn::Token![,]>()?;
            let pat = Pat::parse_multi_with_leading_vert(input)?;
            // The mutation keeps the guard of the pattern, the part after `if`.
            input.parse::<proc_macro2::TokenStream>()?;
            Ok(pat)
        });
        let Ok(Pat::Or(alternatives)) = parsed else { return };
        let (whole, pat) = (span.byte_range(), alternatives.span().byte_range());
        for left_out in &alternatives.cases {
            let left_out = self.of(left_out);
            let rest = alternatives.cases.iter().map(|case| self.of(case)).filter(|case| *case != left_out);
            let rest = rest.collect::<Vec<_>>().join(" | ");
            let other =
                format!("{}{rest}{}", &self.source[whole.start..pat.start], &self.source[pat.end..whole.end]);
            if let Some(other) = on_one_line(&other) {
                let text = on_one_line(self.text(&whole)).unwrap_or_else(|| String::from("matches!"));
                self.instead(span, &other, format!("`{text}` without `{left_out}`"));
            }
        }
    }

    /// Adds mutations to a key, such as a tuple that is looked up in a map. Each mutation leaves
    /// out one part of the key.
    fn key<'e>(&mut self, key: Span, parts: impl Iterator<Item = &'e Expr>) {
        let key = on_one_line(self.text(&key.byte_range())).unwrap_or_else(|| String::from("the key"));
        for part in parts.filter(|part| matches!(part, Expr::Path(_) | Expr::Field(_)) && !constant(part)) {
            let text = self.of(part);
            self.call(part.span(), "part", vec![format!("`{key}` without the part `{text}`")]);
        }
    }

    fn turns(&mut self, body: &Block) {
        let at = body.brace_token.span.open().byte_range().end;
        let text = format!(" {}::burn();", self.switch);
        self.scan.edits.insert(at, &text);
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_test(&function.attrs) {
            self.function(&function.sig, &function.block, |finder| {
                visit::visit_block(finder, &function.block)
            });
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.function(&function.sig, &function.block, |finder| visit::visit_block(finder, &function.block));
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.function(&function.sig, body, |finder| visit::visit_block(finder, body));
        }
    }

    // The following items get no mutations. The compiler evaluates constants, statics and types,
    // and a pattern is not an expression.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_pat(&mut self, pat: &'ast Pat) {
        if let Pat::Guard(guarded) = pat {
            self.condition(&guarded.guard, "the arm");
            self.visit_expr(&guarded.guard);
        }
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        self.unseeded(item.span(), IN_MACRO);
    }

    fn visit_impl_item_macro(&mut self, item: &'ast syn::ImplItemMacro) {
        self.unseeded(item.span(), IN_MACRO);
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {}

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        let is_seeded = match stmt {
            Stmt::Expr(expr, Some(_)) => self.statement(expr),
            _ => true,
        };
        if is_seeded {
            visit::visit_stmt(self, stmt);
        }
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        self.visit_pat(&arm.pat);
        self.visit_expr(&arm.body);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.visit_expr(&closure.body);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some")) && !self.function.is_empty()
        {
            let text = on_one_line(&self.of(call)).unwrap_or_else(|| String::from("Some(..)"));
            self.instead(call.span(), "None", format!("`{text}` to `None`"));
        }
        let is_key = |path: &syn::Path| path.segments.first().is_some_and(|first| first.ident == "Key");
        if matches!(&*call.func, Expr::Path(path) if is_key(&path.path)) {
            self.key(call.span(), call.args.iter());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if self.function.is_empty() {
            return visit::visit_expr(self, expr);
        }
        if self.is_size(expr) {
            return self.unseeded(expr.span(), SIZE);
        }
        match expr {
            Expr::If(branch) => self.condition(&branch.cond, "`if`"),
            Expr::While(turn) => {
                self.condition(&turn.cond, "`while`");
                self.turns(&turn.body);
            }
            Expr::Loop(turn) => self.turns(&turn.body),
            Expr::Match(all) => {
                self.arms(all);
                // A tuple in the head of a `match` is not a key.
                if let Expr::Tuple(parts) = &*all.expr {
                    parts.elems.iter().for_each(|part| self.visit_expr(part));
                    all.arms.iter().for_each(|arm| self.visit_arm(arm));
                    return;
                }
            }
            // The left side of an assignment names a place, so it has no value to change.
            Expr::Assign(assign) => return self.visit_expr(&assign.right),
            Expr::Macro(call) => self.matches(&call.mac, call.span()),
            Expr::Binary(binary) if !has_let(expr) => self.binary(binary),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                let text = on_one_line(&self.of(expr)).unwrap_or_else(|| String::from("!"));
                let (site, first) = self.site(expr.span(), vec![format!("`{text}` without `!`")]);
                let open = format!("{}::not({first}, ", self.switch);
                let sign = unary.op.span().byte_range();
                self.scan.edits.wrap(site, &expr.span().byte_range(), open, String::from(")"));
                self.scan.edits.replace(site, &sign, "");
            }
            Expr::MethodCall(call) => self.method(call),
            Expr::Tuple(key) => self.key(key.span(), key.elems.iter()),
            Expr::Lit(lit) => self.literal(lit.span(), &lit.lit),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

#[cfg(test)]
mod tests;
