use super::*;

fn rewritten(source: &str) -> (String, Vec<String>) {
    let scan = find(source, "s", 1).expect("it parses");
    let mutations = scan.sites.iter().flat_map(|site| site.mutations.clone()).collect();
    (scan.edits.apply(source, |_| false).text, mutations)
}

#[test]
fn rewritten_sources_parse_and_keep_their_lines() {
    for source in [
        "fn f(a: u32, b: u32) -> bool { a == b && !g(a) || a < 3 }",
        "fn f(mut a: u32) {\n  while a > 0\n    && g(a) {\n    a -= 1;\n    h(a);\n  }\n}",
        "fn f(a: M) -> M { a\n  .union(b)\n  .minus(c, ) }",
        "fn f(a: A) -> B { match a { A::X if g() => B::X, A::Y => B::Y, _ => B::Z } }",
        "fn f(a: Option<u32>) -> Option<u32> { if let Some(a) = a && a != 2 { Some(a) } else { None } }",
        "fn f(a: &[u32]) -> bool { a.iter().any(|a| g(a)) }",
    ] {
        let (text, mutations) = rewritten(source);
        assert!(!mutations.is_empty());
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(text.lines().count(), source.lines().count(), "{text}");
    }
}

#[test]
fn each_operator_has_its_mutations() {
    let (text, mutations) = rewritten("fn f(a: M, b: M) -> bool { a.contains(b) }");
    assert_eq!(mutations, ["the result negated", "`contains` of `a.contains(b)` to `overlaps`"]);
    assert_eq!(
        text,
        "fn f(a: M, b: M) -> bool { s::negated(1, (match (a, b) { (__left, __right) => \
         s::choose(2, __left.contains(__right), [__left.overlaps(__right)]) })) }"
    );
    let (_, mutations) = rewritten("fn f(a: u8) { x.push_back(a + 1); }");
    assert_eq!(
        mutations,
        [
            "without `x.push_back(a + 1)`",
            "`push_back` of `x.push_back(a + 1)` to `push_front`",
            "`+` of `a + 1` to `-`",
            "`a + 1` without the right operand",
            "`1` to `2`",
            "`1` to `0`",
        ]
    );
}

#[test]
fn alternatives_of_patterns_are_left_out() {
    let (text, mutations) = rewritten("fn f(a: A) { g(matches!(a, A::X | A::Y if h())) }");
    assert_eq!(
        mutations,
        [
            "`matches!(a, A::X | A::Y if h())` without `A::X`",
            "`matches!(a, A::X | A::Y if h())` without `A::Y`",
        ]
    );
    assert!(text.contains("if s::is(1) { matches!(a, A::Y if h()) } else { "), "{text}");
}

#[test]
fn parts_of_keys_are_left_out() {
    let (text, mutations) = rewritten("fn f(a: A, b: B) { let k = (a, b.c); w(Key::Way(a)) }");
    assert_eq!(
        mutations,
        [
            "`(a, b.c)` without the part `a`",
            "`(a, b.c)` without the part `b.c`",
            "`Key::Way(a)` without the part `a`",
        ]
    );
    assert_eq!(
        text,
        "fn f(a: A, b: B) { let k = (s::part(1, a), s::part(2, b.c)); w(Key::Way(s::part(3, a))) }"
    );
}

#[test]
fn code_without_mutations_is_listed_with_a_reason() {
    let source = "const fn f(a: u8) -> bool { a == 1 }\nfn g() { fx.uses.hits += 1; }\nconst C: u8 = 1 + 1;\n\
                  #[cfg(test)] mod tests { fn t() { assert!(a == b); } }";
    let scan = find(source, "s", 1).expect("it parses");
    assert!(scan.sites.iter().all(|site| site.mutations.iter().all(|m| m.starts_with("`1`"))), "{scan:?}");
    let reasons: Vec<_> = scan.unseeded.iter().map(|unseeded| (unseeded.line, unseeded.reason)).collect();
    assert_eq!(reasons, [(1, IN_CONST), (2, STATISTICS)]);
}

#[test]
fn checks_sizes_and_causes_of_time_get_no_mutations() {
    let source = "fn miscount() -> Option<&'static str> { (a == b).then_some(\"c\") }\n\
                  fn spends() -> Spending { if a == b { Spending::Access } else { Spending::Epoch } }\n\
                  fn grant_bytes() -> u8 { 1 + 1 }\n\
                  fn send() { let bytes = 2 * params.stamp_bytes; f(line_bytes == 1); }";
    let scan = find(source, "s", 1).expect("it parses");
    let reasons: Vec<_> = scan.unseeded.iter().map(|unseeded| (unseeded.line, unseeded.reason)).collect();
    assert_eq!(reasons, [(1, CHECK), (2, STATISTICS), (3, SIZE), (4, SIZE)]);
    let mutations: Vec<String> = scan.sites.iter().flat_map(|site| site.mutations.clone()).collect();
    assert!(mutations.contains(&String::from("`==` of `line_bytes == 1` to `!=`")), "{mutations:?}");
}
