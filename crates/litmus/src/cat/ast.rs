//! A model as it is written.

use crate::parse::Place;

/// The number of a name in [`Model::names`](super::Model).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(pub(crate) u32);

/// What a function is applied to, or a binding binds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// One name; none for `_`.
    One(Option<Name>),
    /// A tuple of names.
    Tuple(Vec<Option<Name>>),
}

/// An operator of one operand.
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

/// An operator of two operands.
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

/// A test between two values.
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
    /// `"variant"`: is this variant of the model asked for?
    Variant(String),
    /// Not.
    Not(Box<Condition>),
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// Either.
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

/// An expression with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expr {
    pub(crate) place: Place,
    pub(crate) node: Box<Node>,
}

/// What an expression is.
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
    /// An operator of one operand.
    Prefix(Prefix, Expr),
    /// An operator of two operands.
    Infix(Infix, Expr, Expr),
}

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) place: Place,
    pub(crate) pattern: Pattern,
    /// The parameters, if a function is defined.
    pub(crate) parameters: Vec<Pattern>,
    pub(crate) body: Expr,
}

/// `let [rec] a = ... and b = ...`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bindings {
    pub(crate) recursive: bool,
    pub(crate) list: Vec<Binding>,
}

/// What a check asks of a relation or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// It has no cycle.
    Acyclic,
    /// It relates nothing to itself.
    Irreflexive,
    /// It is empty.
    Empty,
}

impl CheckKind {
    /// The word in the language.
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
    /// A flag reports and forbids nothing.
    pub(crate) flag: bool,
    /// Is the program undefined where the flag is raised?
    pub(crate) undefined: bool,
    pub(crate) expr: Expr,
    pub(crate) name: Option<String>,
}

/// A step of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The steps that follow are of that file of the model.
    InFile(usize),
    /// `include "file"`, until the file is put in its place.
    Include(Place, String),
    /// An included file that cannot be read, and why.
    Missing(Place, String),
    /// Several steps, in order.
    Steps(Vec<Step>),
    /// `let`
    Let(Bindings),
    /// A check or a flag.
    Check(Check),
    /// `with x from e`
    With(Place, Name, Expr),
    /// `enum e = 'a || 'b`: the tags' set.
    Enum(Name, Vec<String>),
    /// `procedure f(x) = ... end`
    Procedure(Name, Pattern, Vec<Step>),
    /// `call f(x)`
    Call(Place, Name, Expr),
    /// `forall x in e do ... end`
    ForAll(Place, Name, Expr, Vec<Step>),
    /// `if c then ... else ... end` among steps
    If(Condition, Vec<Step>, Vec<Step>),
    /// `match e with || 'tag -> ... || _ -> ... end` among steps
    Match(Expr, Vec<(Option<String>, Vec<Step>)>),
    /// `instructions R[{'once, 'acquire}]`: the annotations that a kind of
    /// instruction may have, one set a place.
    Instructions(Place, String, Vec<Expr>),
}
