//! Tests of the arithmetic of vector values.

use kernel::prelude::*;
use kernel::reference::{self, Options};
use kernel::{LANES_MAX, Packed};

/// Compares vector code with scalar code on every pair of these cases.
fn pairs<T: Word>(cases: &[T], vector: impl Fn(Lanes<T>, Lanes<T>) -> Lanes<T>, scalar: impl Fn(T, T) -> T) {
    for chunk in cases.iter().flat_map(|a| cases.iter().map(move |b| (*a, *b))).collect::<Vec<_>>().chunks(64)
    {
        let left = Lanes::from_fn(|lane| chunk.get(lane).map_or(T::default(), |p| p.0));
        let right = Lanes::from_fn(|lane| chunk.get(lane).map_or(T::default(), |p| p.1));
        let result = vector(left, right);
        for (lane, (a, b)) in chunk.iter().enumerate() {
            assert_eq!(result.get(lane).to_bits(), scalar(*a, *b).to_bits(), "{a:?} and {b:?}");
        }
    }
}

#[test]
fn integers_wrap_and_never_trap() {
    let unsigned = [0u32, 1, 2, 31, 32, 33, 255, 1 << 31, u32::MAX - 1, u32::MAX];
    pairs(&unsigned, |a, b| a + b, u32::wrapping_add);
    pairs(&unsigned, |a, b| a - b, u32::wrapping_sub);
    pairs(&unsigned, |a, b| a * b, u32::wrapping_mul);
    pairs(&unsigned, |a, b| a / b, |a, b| a.checked_div(b).unwrap_or(u32::MAX));
    pairs(&unsigned, |a, b| a % b, |a, b| a.checked_rem(b).unwrap_or(a));
    pairs(&unsigned, |a, b| a << b, u32::wrapping_shl);
    pairs(&unsigned, |a, b| a >> b, u32::wrapping_shr);
    pairs(&unsigned, |a, b| a.max(b) ^ a.min(b), |a, b| a ^ b);
    pairs(&unsigned, |a, b| !(a & b) | b, |a, b| !(a & b) | b);
    let signed = [0i32, 1, -1, 7, -7, i32::MIN, i32::MAX];
    pairs(&signed, |a, b| a / b, |a, b| if b == 0 { -1 } else { a.wrapping_div(b) });
    pairs(&signed, |a, b| a % b, |a, b| if b == 0 { a } else { a.wrapping_rem(b) });
    pairs(&signed, |a, b| a >> (b & 31), |a, b| a >> (b & 31));
    pairs(&[0u8, 1, 127, 128, 255], |a, b| a + b * 3, |a, b| a.wrapping_add(b.wrapping_mul(3)));
}

#[test]
fn floats_follow_ieee() {
    let cases = [0.0f32, -0.0, 1.5, -2.25, 1e30, f32::INFINITY, f32::MIN_POSITIVE];
    pairs(&cases, |a, b| a + b, |a, b| a + b);
    pairs(&cases, |a, b| a * b - a, |a, b| a * b - a);
    pairs(&cases, |a, b| a.mul_add(b, 1.0), |a, b| a.mul_add(b, 1.0));
    pairs(&cases[2..5], |a, b| a / b, |a, b| a / b);
    pairs(&[2.0f64, 3.0, 1e300], |a, b| (a * b).sqrt().min(b.abs()), |a, b| (a * b).sqrt().min(b.abs()));
    let back = Lanes::splat(-3.7f32).to_i32().to_i64().to_u32().to_f64();
    assert_eq!(back.get(5), f64::from(-3i32 as u32));
}

#[test]
fn a_comparison_selects_the_lanes_for_which_it_holds() {
    let x = Lanes::from_fn(|lane| lane as u16);
    assert_eq!(x.lt(3), Mask(0b111));
    assert_eq!(x.le(3), Mask(0b1111));
    assert_eq!(x.ge(60), Mask(0b1111 << 60));
    assert_eq!(x.gt(60), Mask(0b111 << 61));
    assert_eq!(x.eq(9) | x.ne(9), Mask(!0));
    assert_eq!(x.eq(x.min(1)), Mask(0b11));
    assert_eq!(Lanes::splat(f32::NAN).eq(f32::NAN), Mask::NONE);
    let mut y = Lanes::select(x.lt(2), 100u16, x);
    assert_eq!((y.get(1), y.get(2)), (100, 2));
    y.assign(Mask(0b100), 7);
    assert_eq!((y.get(1), y.get(2), y.get(3)), (100, 7, 3));
}

#[test]
fn masks_count_find_and_iterate_their_lanes() {
    let mask = Mask(0b1011_0000);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [4, 5, 7]);
    assert_eq!((mask.first(), mask.last(), mask.count()), (Some(4), Some(7), 3));
    assert_eq!((Mask::NONE.first(), Mask::NONE.last(), Mask::NONE.iter().count()), (None, None, 0));
    assert_eq!(mask.minus(Mask::lane(5)), Mask(0b1001_0000));
    assert_eq!([0, 1, 63, 64, 1000].map(|n| Mask::below(n).count()), [0, 1, 63, 64, 64]);
    assert_eq!(!Mask(!1), Mask::lane(0));
}

#[test]
fn packed_lanes_are_contiguous() {
    fn check<T: Word>(value: impl Fn(usize) -> T) {
        let values: [T; LANES_MAX] = core::array::from_fn(value);
        let mut packed = Packed::default();
        T::pack(&values, &mut packed);
        let size = T::WIDTH.bytes();
        assert_eq!(packed.0[..64 * size], T::to_bytes(&values)[..], "{}", T::NAME);
        assert_eq!(T::from_bytes(&packed.0[..64 * size]), values);
        assert_eq!(T::unpack(&packed, LANES_MAX), values);
        let few = T::unpack(&packed, 5);
        assert_eq!((&few[..5], &few[5..]), (&values[..5], &[T::default(); LANES_MAX - 5][..]));
        T::pack(&[T::default(); 3], &mut packed);
        assert_eq!(packed.0[..3 * size], T::to_bytes(&[T::default(); 3])[..], "{}", T::NAME);
        assert_eq!(packed.0[3 * size..64 * size], T::to_bytes(&values[3..])[..], "{}", T::NAME);
        T::pack(&values, &mut packed);
        for (lane, value) in values.iter().enumerate() {
            assert_eq!(packed.get(lane, T::WIDTH), value.to_bits(), "{} {lane}", T::NAME);
            assert_eq!(T::from_bits(value.to_bits()), *value);
        }
    }
    check(|i| i as u8 * 3);
    check(|i| i as u16 * 1001);
    check(|i| (i as u32).wrapping_mul(100_000_001));
    check(|i| (i as u64).wrapping_mul(1_000_000_000_000_000_007));
    check(|i| 7 - i as i32 * 1_000_003);
    check(|i| 7 - i as i64 * 1_000_000_000_039);
    check(|i| i as f32 / 3.0 - 1.0);
    check(|i| i as f64 / 3.0 - 1.0);
}

#[test]
fn lanes_exchange_values_among_the_active_ones() {
    async fn body(w: Wave, out: Array<u32>) {
        let odd = w.when((w.lane_id() & 1).ne(0));
        let id = w.lane_id();
        let sum = odd.reduce(&id, 0, Class::Int, |a, b| a + b);
        let largest = odd.reduce(&id, 0, Class::Int, u32::max);
        odd.store(out, 0, sum).await;
        odd.store(out, 1, largest).await;
        odd.store(out, 2, odd.first(&id)).await;
        odd.store(out, 3, odd.rank().get(9)).await;
        let turned = w.shuffle(&id, &(id + 1));
        w.store(out, 4, turned.get(w.lanes() as usize - 1) + turned.get(5)).await;
    }
    for (lanes, sum, largest) in [(32, 256u32, 31u32), (64, 1024, 63)] {
        let program = Program::new("exchange", |host| async move {
            let out = host.alloc::<u32>("out", 5);
            host.launch(Kernel::new("exchange", move |w| body(w, out)), Grid::new(1, 1)).await;
            Answer::new().with_array("out", &host, out).await
        });
        let options = Options { shape: Shape { lanes, ..Shape::default() }, ..Options::default() };
        let outcome = reference::run(program, &options);
        assert_eq!(outcome.map(|o| o.answer.expect("out", &[sum, largest, 1, 4, 6])), Ok(Ok(())));
    }
}

#[test]
fn an_answer_reports_the_first_element_that_differs() {
    let answer = Answer::new().with("a", &[1u32, 2, 3]).with("b", &[1.0f32]);
    assert_eq!(answer.expect("a", &[1u32, 2, 3]), Ok(()));
    let message = |r: Result<(), WrongAnswer>| r.map_err(|wrong| wrong.to_string());
    let wrong = |text: &str| Err(format!("wrong answer: element {text}"));
    assert_eq!(message(answer.expect("a", &[1u32, 9, 9])), wrong("1 of `a`: expected 9, found 2"));
    assert_eq!(message(answer.expect("a", &[1u32, 2])), wrong("2 of `a`: expected nothing, found 3"));
    assert_eq!(message(answer.expect("c", &[7u32])), wrong("0 of `c`: expected 7, found nothing"));
    assert_eq!(message(answer.expect("b", &[1u32])), wrong("0 of `b`: expected 1, found nothing"));
    assert_eq!(answer.compare("b", &[1.01f32], |a, b| (a - b).abs() < 0.1), Ok(()));
}

#[test]
fn the_scarcest_resource_limits_a_compute_unit() {
    let shape = Shape { waves_per_cu: 10, work_groups_per_cu: 4, lds_bytes_per_cu: 1000, ..Shape::default() };
    let holds = |waves, lds| shape.resident_per_cu(&Grid::new(1, waves).lds_bytes(lds));
    assert_eq!([holds(1, 0), holds(3, 0), holds(5, 0), holds(11, 0)], [4, 3, 2, 0]);
    assert_eq!([holds(1, 300), holds(1, 600), holds(1, 1001)], [3, 1, 0]);
}
