//! The syntax tree of a memory model in the `.cat` language.

use crate::parse::Place;

/// A name in a model, given by its index in [`Model::names`](super::Model).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Name(pub(crate) u32);

/// The pattern of a parameter or of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// A single name. `None` for `_`, which binds no name.
    One(Option<Name>),
    /// A tuple of names.
    Tuple(Vec<Option<Name>>),
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// The complement `~a`.
    Complement,
    /// The identity on a set, `[a]`.
    Identity,
    /// The transitive closure `a+`.
    Plus,
    /// The reflexive transitive closure `a*`.
    Star,
    /// The reflexive closure `a?`.
    Optional,
    /// The inverse `a^-1`.
    Inverse,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Infix {
    /// The union `a | b`.
    Union,
    /// The addition of an element to a set, `a ++ b`.
    Add,
    /// The composition `a ; b`.
    Sequence,
    /// The difference `a \ b`.
    Minus,
    /// The intersection `a & b`.
    Intersection,
    /// The product `a * b`.
    Product,
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// The equality `a = b`.
    Equal,
    /// The inclusion `a subset b`.
    Subset,
    /// The membership `a in b`.
    Member,
}

/// A condition of `if`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// A comparison of two expressions.
    Compare(Comparison, Expr, Expr),
    /// `"variant"`: whether the user selected this variant of the model.
    Variant(String),
    /// The negation of a condition.
    Not(Box<Condition>),
    /// The conjunction of two conditions.
    And(Box<Condition>, Box<Condition>),
    /// The disjunction of two conditions.
    Or(Box<Condition>, Box<Condition>),
}

/// An arm of `match`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arm {
    /// The arm for a tag, `'tag -> e`.
    Tag(String, Expr),
    /// The arm for the empty set, `{} -> e`.
    Empty(Expr),
    /// The arm for a set with at least one member, `x ++ xs -> e`. `x` is the first member, and
    /// `xs` is the set of the other members.
    Cons(Option<Name>, Option<Name>, Expr),
    /// The arm for a set with at least one member, `before | x ++ after -> e`. `x` is the middle
    /// member, `before` is the set of the members before it, and `after` is the set of the members
    /// after it.
    Split([Option<Name>; 3], Expr),
    /// The last arm, `_ -> e` or `x -> e`. It matches every value that no earlier arm matches. `x`
    /// is a name for the value.
    Any(Option<Name>, Expr),
}

/// An expression with its position in the model's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expr {
    pub(crate) place: Place,
    pub(crate) node: Box<Node>,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// The name of a value.
    Name(Name),
    /// The empty set or relation, `0` or `{}`.
    Nothing,
    /// The set of all events, `_`.
    Everything,
    /// A tag, `'tag`.
    Tag(String),
    /// A set of the listed values, `{a, b}`.
    Set(Vec<Expr>),
    /// A tuple of values, `(a, b)`.
    Tuple(Vec<Expr>),
    /// The application of a function, `f x`.
    Apply(Expr, Expr),
    /// A function without a name, `fun x -> e`.
    Function(Pattern, Expr),
    /// An expression with local definitions, `let ... in e`.
    Let(Bindings, Expr),
    /// The selection of an arm by the value of an expression, `match e with ... end`.
    Match(Expr, Vec<Arm>),
    /// A conditional expression, `if c then a else b`.
    If(Condition, Expr, Expr),
    /// `try a with b`: the value of `a`. If the evaluation of `a` fails, the value of `b`.
    Try(Expr, Expr),
    /// A unary operator with its operand.
    Prefix(Prefix, Expr),
    /// A binary operator with its operands.
    Infix(Infix, Expr, Expr),
}

/// One definition: a pattern of names and the expression that gives their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) place: Place,
    pub(crate) pattern: Pattern,
    /// The parameters, if the definition defines a function. Empty if it defines a value.
    pub(crate) parameters: Vec<Pattern>,
    pub(crate) body: Expr,
}

/// The definitions of one `let`: `let [rec] a = ... and b = ...`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bindings {
    pub(crate) recursive: bool,
    pub(crate) list: Vec<Binding>,
}

/// The property of a relation or set that a check requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckKind {
    /// The relation has no cycle.
    Acyclic,
    /// No element is related to itself.
    Irreflexive,
    /// The relation or set is empty.
    Empty,
}

impl CheckKind {
    /// The keyword of the check in a model.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            CheckKind::Acyclic => "acyclic",
            CheckKind::Irreflexive => "irreflexive",
            CheckKind::Empty => "empty",
        }
    }
}

/// A check of a model, such as `acyclic e as name` or `flag ~empty e as name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) place: Place,
    pub(crate) kind: CheckKind,
    pub(crate) negated: bool,
    /// Whether the check is a flag. A flag reports executions but does not forbid them.
    pub(crate) flag: bool,
    /// Whether the program has undefined behaviour if this check is a flag and the flag holds on
    /// some execution.
    pub(crate) undefined: bool,
    pub(crate) expr: Expr,
    pub(crate) name: Option<String>,
}

/// A statement of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// A marker before the statements of a file. The number is the index of this file in the list
    /// of the model's files.
    InFile(usize),
    /// A statement `include "file"`. The reader replaces it by the statements of the file.
    Include(Place, String),
    /// A statement `include` of a file that cannot be read, with the reason.
    Missing(Place, String),
    /// Several statements, in order.
    Block(Vec<Statement>),
    /// A statement `let`, which defines names.
    Let(Bindings),
    /// A check or a flag.
    Check(Check),
    /// `with x from e`: the search chooses `x` among the members of the set `e`.
    With(Place, Name, Expr),
    /// `enum e = 'a || 'b`: the set of tags.
    Enum(Name, Vec<String>),
    /// The definition of a procedure, `procedure f(x) = ... end`.
    Procedure(Name, Pattern, Vec<Statement>),
    /// A statement `call f(x)`.
    Call(Place, Name, Expr),
    /// `forall x in e do ... end`: runs the statements for each member of the set `e`.
    ForAll(Place, Name, Expr, Vec<Statement>),
    /// `if c then ... else ... end` over statements.
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// `match e with || 'tag -> ... || _ -> ... end` over statements.
    Match(Expr, Vec<(Option<String>, Vec<Statement>)>),
    /// `instructions R[{'once, 'acquire}]`: the annotations that a kind of instruction may have.
    /// The brackets hold one set for each annotation of an instruction.
    Instructions(Place, String, Vec<Expr>),
}
