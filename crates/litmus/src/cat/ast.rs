//! The syntax tree of a model.

use crate::parse::Place;

/// The number of a name in [`Model::names`](super::Model).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(pub(crate) u32);

/// The pattern of a parameter or of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// One name; `None` for `_`.
    One(Option<Name>),
    /// A tuple of names.
    Tuple(Vec<Option<Name>>),
}

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// `~a`
    Complement,
    /// `[a]`
    Identity,
    /// `a+`
    Plus,
    /// `a*`
    Star,
    /// `a?`
    Optional,
    /// `a^-1`
    Inverse,
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Infix {
    /// `a | b`
    Union,
    /// `a ++ b`
    Add,
    /// `a ; b`
    Sequence,
    /// `a \ b`
    Minus,
    /// `a & b`
    Intersection,
    /// `a * b`
    Product,
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `a = b`
    Equal,
    /// `a subset b`
    Subset,
    /// `a in b`
    Member,
}

/// A condition of `if`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// A comparison.
    Compare(Comparison, Expr, Expr),
    /// `"variant"`: whether the user selected this variant of the model.
    Variant(String),
    /// The negation.
    Not(Box<Condition>),
    /// The conjunction.
    And(Box<Condition>, Box<Condition>),
    /// The disjunction.
    Or(Box<Condition>, Box<Condition>),
}

/// An arm of `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arm {
    /// `'tag -> e`
    Tag(String, Expr),
    /// `{} -> e`
    Empty(Expr),
    /// `x ++ xs -> e`
    Cons(Option<Name>, Option<Name>, Expr),
    /// `before | x ++ after -> e`
    Split([Option<Name>; 3], Expr),
    /// `_ -> e`
    Any(Option<Name>, Expr),
}

/// An expression and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expr {
    pub(crate) place: Place,
    pub(crate) node: Box<Node>,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// A name.
    Name(Name),
    /// `0`, `{}`
    Nothing,
    /// `_`
    Everything,
    /// `'tag`
    Tag(String),
    /// `{a, b}`
    Set(Vec<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `f x`
    Apply(Expr, Expr),
    /// `fun x -> e`
    Function(Pattern, Expr),
    /// `let ... in e`
    Let(Bindings, Expr),
    /// `match e with ... end`
    Match(Expr, Vec<Arm>),
    /// `if c then a else b`
    If(Condition, Expr, Expr),
    /// `try a with b`
    Try(Expr, Expr),
    /// A unary operator with its operand.
    Prefix(Prefix, Expr),
    /// A binary operator with its operands.
    Infix(Infix, Expr, Expr),
}

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) place: Place,
    pub(crate) pattern: Pattern,
    /// The parameters of a function; empty otherwise.
    pub(crate) parameters: Vec<Pattern>,
    pub(crate) body: Expr,
}

/// `let [rec] a = ... and b = ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bindings {
    pub(crate) recursive: bool,
    pub(crate) list: Vec<Binding>,
}

/// The property of a relation or set that a check requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// No cycle.
    Acyclic,
    /// No element is related to itself.
    Irreflexive,
    /// Empty.
    Empty,
}

impl CheckKind {
    /// The keyword.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            CheckKind::Acyclic => "acyclic",
            CheckKind::Irreflexive => "irreflexive",
            CheckKind::Empty => "empty",
        }
    }
}

/// `acyclic e as name`, `flag ~empty e as name`, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) place: Place,
    pub(crate) kind: CheckKind,
    pub(crate) negated: bool,
    /// Whether it is a flag: a flag reports but forbids nothing.
    pub(crate) flag: bool,
    /// Whether the program is undefined if the flag is raised.
    pub(crate) undefined: bool,
    pub(crate) expr: Expr,
    pub(crate) name: Option<String>,
}

/// A statement of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// The following statements come from this file of the model.
    InFile(usize),
    /// `include "file"`, before the file's statements replace it.
    Include(Place, String),
    /// An included file that cannot be read, and the reason.
    Missing(Place, String),
    /// Several statements, in order.
    Block(Vec<Statement>),
    /// `let`
    Let(Bindings),
    /// A check or a flag.
    Check(Check),
    /// `with x from e`
    With(Place, Name, Expr),
    /// `enum e = 'a || 'b`: the set of tags.
    Enum(Name, Vec<String>),
    /// `procedure f(x) = ... end`
    Procedure(Name, Pattern, Vec<Statement>),
    /// `call f(x)`
    Call(Place, Name, Expr),
    /// `forall x in e do ... end`
    ForAll(Place, Name, Expr, Vec<Statement>),
    /// `if c then ... else ... end` over statements.
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// `match e with || 'tag -> ... || _ -> ... end` over statements.
    Match(Expr, Vec<(Option<String>, Vec<Statement>)>),
    /// `instructions R[{'once, 'acquire}]`: the annotations that a kind of instruction
    /// may have, one set for each position.
    Instructions(Place, String, Vec<Expr>),
}
