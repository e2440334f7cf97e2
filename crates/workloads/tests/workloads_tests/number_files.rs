//! Files of numbers: round trips, error messages, limits, and programs on them.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use kernel::Shape;
use kernel::reference::{self, Options, Schedule};
use proptest::prelude::*;
use workloads::files::FileError;
use workloads::files::numbers::{Expected, FINITE, NumberFormat, Table, read, read_from, write};
use workloads::inputs::{self, NumberProgram};
use workloads::{Settings, Size};

fn expected(columns: u64, rows: core::ops::RangeInclusive<u64>) -> Expected {
    Expected {
        row: "point",
        columns: (columns, "x, y"),
        rows,
        range: FINITE,
        row_in_line: true,
        memory_bytes: 1 << 20,
    }
}

fn load(bytes: &[u8], format: NumberFormat, expected: &Expected) -> Result<Table, FileError> {
    read_from(bytes, Path::new("p"), format, expected)
}

fn sentence(bytes: &[u8], format: NumberFormat, expected: &Expected) -> String {
    match load(bytes, format, expected) {
        Ok(table) => panic!("read as {table:?}"),
        Err(error) => error.to_string(),
    }
}

fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn blanks_commas_comments_and_blank_lines_separate_numbers() {
    for text in ["1 2\n3 4\n", "1,2\n3,4", "# x, y\n\n 1 ,\t2\r\n%\n+3, 4.0\n\n", "1e0 2e-0\n 3. 4"] {
        let table = load(text.as_bytes(), NumberFormat::Text, &expected(2, 1..=9)).unwrap();
        assert_eq!((table.rows(), table.numbers()), (2, &[1.0, 2.0, 3.0, 4.0][..]), "{text:?}");
        assert_eq!(table.column(1).collect::<Vec<_>>(), [2.0, 4.0]);
    }
}

#[test]
fn errors_of_a_text_are_named() {
    let cases = [
        ("1 x\n", "p:1:3: found `x`, expected a finite number"),
        ("1 nan\n", "p:1:3: found `nan`, expected a finite number"),
        ("1 inf\n", "p:1:3: found `inf`, expected a finite number"),
        ("1 1e39\n", "p:1:3: found `1e39`, expected a finite number"),
        ("1 2\n3\n", "p:2:2: found the end of the line, expected number 2 of a point of 2 numbers (x, y)"),
        ("1,2\n3,\n", "p:2:3: found the end of the line, expected number 2 of a point of 2 numbers (x, y)"),
        ("1,,2\n", "p:1:3: found `,`, expected a finite number"),
        (",1\n", "p:1:1: found `,`, expected a finite number"),
        ("1 2 3\n", "p:1:5: found `3`, expected the end of the line after 2 numbers (x, y)"),
        ("1,2,\n", "p:1:4: found `,`, expected the end of the line after 2 numbers (x, y)"),
        ("1 2\n", "p:2:1: the file ends here, expected point 2 of 2"),
        ("", "p:1:1: the file ends here, expected point 1 of 2"),
        ("1 2\n3 4\n5 6\n7 8\n", "p:4:1: found `7`, expected the end of the file after 3 points"),
        ("1;2\n", "p:1:1: found `1;2`, expected a finite number"),
    ];
    for (text, want) in cases {
        assert_eq!(sentence(text.as_bytes(), NumberFormat::Text, &expected(2, 2..=3)), want, "{text:?}");
    }
    let within = Expected { range: 0.0..=1.0, ..expected(2, 1..=3) };
    let want = "p:2:3: found `1.5`, expected a number from 0 to 1";
    assert_eq!(sentence(b"0 1\n0 1.5\n", NumberFormat::Text, &within), want);
}

#[test]
fn a_matrix_may_be_in_any_lines() {
    let shape = Expected { row: "row", columns: (3, "columns"), row_in_line: false, ..expected(3, 2..=2) };
    for text in ["1\n2\n3\n4\n5\n6\n", "1 2 3\n4 5 6", "1,2,\n3,4,5,6\n# end\n"] {
        let table = load(text.as_bytes(), NumberFormat::Text, &shape).unwrap();
        assert_eq!((table.rows(), table.columns(), table.numbers()[5]), (2, 3, 6.0), "{text:?}");
    }
    let message = |text: &str| sentence(text.as_bytes(), NumberFormat::Text, &shape);
    let want = "p:6:1: the file ends here, expected number 6 of 6, 2 rows of 3 numbers (columns)";
    assert_eq!(message("1\n2\n3\n4\n5\n"), want);
    let want = "p:2:1: found `7`, expected the end of the file after 2 rows of 3 numbers (columns)";
    assert_eq!(message("1 2 3 4 5 6\n7\n"), want);
}

#[test]
fn errors_of_binary_numbers_are_named() {
    let message = |bytes: &[u8]| sentence(bytes, NumberFormat::Binary, &expected(2, 2..=3));
    assert_eq!(
        message(&bytes_of(&[1.0, f32::NAN, 3.0, 4.0])),
        "p, byte 4: found NaN, expected a finite number"
    );
    assert_eq!(
        message(&bytes_of(&[1.0, 2.0, 3.0, f32::NEG_INFINITY])),
        "p, byte 12: found -inf, expected a finite number"
    );
    assert_eq!(
        message(&bytes_of(&[1.0, 2.0, 3.0])),
        "p, byte 12: found a file of 12 bytes, expected a multiple of 8 bytes, 4 for each of 2 numbers (x, y)"
    );
    assert_eq!(
        message(&[0; 17]),
        "p, byte 17: found a file of 17 bytes, expected a multiple of 8 bytes, 4 for each of 2 numbers (x, y)"
    );
    assert_eq!(
        message(&bytes_of(&[1.0, 2.0])),
        "p, byte 8: found a file of 8 bytes, expected 2 points of 2 numbers (x, y)"
    );
    assert_eq!(
        message(&[0; 32]),
        "p, byte 24: found more bytes, expected the end of the file after 3 points of 2 numbers (x, y)"
    );
    let within = Expected { range: -1.0..=1.0, ..expected(1, 1..=3) };
    let want = "p, byte 4: found 2, expected a number from -1 to 1";
    assert_eq!(sentence(&bytes_of(&[1.0, 2.0]), NumberFormat::Binary, &within), want);
}

#[test]
fn a_file_that_exceeds_the_memory_budget_is_refused() {
    let text = gzip("0 1\n".repeat(1 << 18).as_bytes());
    let many = expected(2, 1..=1 << 40);
    assert_eq!(
        sentence(&text, NumberFormat::Text, &many),
        "p:43691:3: a table of at least 87382 numbers needs at least 1.0 MiB of memory to read, but the \
         reader may use at most 1.0 MiB"
    );
    assert_eq!(
        sentence(&gzip(&[0; 1 << 20]), NumberFormat::Binary, &many),
        "p, byte 349524: found more bytes, expected the end of the file, because the reader may use at most \
         1.0 MiB of memory"
    );
}

#[test]
fn a_compressed_file_that_ends_early_is_named() {
    let packed = gzip(&bytes_of(&[1.0; 100]));
    assert_eq!(load(&packed, NumberFormat::Binary, &expected(2, 1..=99)).unwrap().rows(), 50);
    let error = sentence(&packed[..packed.len() - 1], NumberFormat::Binary, &expected(2, 1..=99));
    assert!(error.ends_with("from here on, cannot be read: it ends early"), "{error}");
    let packed = gzip(b"1 2\n3 4\n");
    let error = sentence(&packed[..packed.len() - 1], NumberFormat::Text, &expected(2, 1..=99));
    assert!(error.starts_with("p:3:1: ") && error.ends_with("it ends early"), "{error}");
}

#[test]
fn the_name_of_a_file_gives_its_format() {
    let of = |name: &str| NumberFormat::of(Path::new(name));
    for name in ["a.f32", "b/c.BIN", "d.f32.gz"] {
        assert_eq!(of(name), NumberFormat::Binary, "{name}");
    }
    for name in ["a.csv", "temp_512", "x.txt.gz", "f32", ""] {
        assert_eq!(of(name), NumberFormat::Text, "{name}");
    }
    let missing = read(Path::new("no/such.csv"), &expected(2, 1..=9)).expect_err("no file").to_string();
    assert!(missing.starts_with("cannot read no/such.csv: "), "{missing}");
}

proptest! {
    #[test]
    fn a_table_is_the_same_after_writing_and_reading(
        columns in 1_u64..5,
        rows in 1_usize..20,
        bits in prop::collection::vec(any::<u32>(), 100),
    ) {
        let finite = |bits: &u32| Some(f32::from_bits(*bits)).filter(|number| number.is_finite()).unwrap_or(0.0);
        let numbers: Vec<f32> = bits.iter().map(finite).take(rows * columns as usize).collect();
        let table = Table::new(columns, numbers);
        for format in [NumberFormat::Text, NumberFormat::Binary] {
            let mut written = Vec::new();
            write(&table, format, &mut written).unwrap();
            let again = load(&written, format, &expected(columns, 1..=20)).unwrap();
            let bits = |table: &Table| table.numbers().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&again), bits(&table));
            let again = load(&gzip(&written), format, &expected(columns, 1..=20)).unwrap();
            prop_assert_eq!(again, table.clone());
        }
    }

    #[test]
    fn any_bytes_are_a_table_of_the_expected_shape_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        columns in 1_u64..4,
    ) {
        for format in [NumberFormat::Text, NumberFormat::Binary] {
            match load(&bytes, format, &expected(columns, 1..=9)) {
                Ok(table) => {
                    prop_assert!((1..=9).contains(&table.rows()) && table.columns() == columns);
                    prop_assert!(table.numbers().iter().all(|number| number.is_finite()));
                }
                Err(error) => prop_assert!(!error.to_string().chars().any(char::is_control), "{error}"),
            }
        }
    }
}

fn program(name: &str) -> (&'static NumberProgram, Settings) {
    let workload = workloads::find(name).unwrap_or_else(|error| panic!("{error}"));
    let program = inputs::program_of(workload).unwrap_or_else(|| panic!("{name} takes files"));
    (program, workload.sized(Size::Tiny).unwrap_or_else(|error| panic!("{error}")))
}

/// A table of numbers within the range that `file` allows. No generator of the workloads makes
/// these numbers.
fn table(file: &inputs::NumberFile, rows: u64) -> Arc<Table> {
    let Expected { columns: (columns, _), range, .. } = &file.expected;
    let wide = *range.end() > 1.0;
    let number = |at: u64| {
        let share = (at * 7919 % 1009) as f32 / 1009.0;
        let diagonal = at / columns == at % columns && rows == *columns;
        if wide { share * 9.0 + 0.1 + if diagonal { 100.0 } else { 0.0 } } else { share }
    };
    Arc::new(Table::new(*columns, (0..rows * columns).map(number).collect()))
}

#[test]
fn every_program_gives_the_right_answer_on_numbers_from_files() {
    for workload in inputs::workloads() {
        let (program, settings) = program(workload.name);
        let files = (program.files)(&settings);
        let rows = |file: &inputs::NumberFile| (*file.expected.rows.end()).min(83);
        let tables: Vec<_> = files.iter().map(|file| table(file, rows(file))).collect();
        for (lanes, seed) in [(32, 1), (64, 2)] {
            let instance = (program.make)(&tables, &settings, 1).unwrap_or_else(|error| panic!("{error}"));
            let (program, check) = instance.into_parts();
            let shape = Shape { lanes, waves_per_cu: 16, ..Shape::default() };
            let schedule = Schedule::Seeded(seed);
            let options = Options { shape, schedule, checks_uses: true, ..Options::default() };
            let outcome = reference::run(program, &options)
                .unwrap_or_else(|error| panic!("{}: {error}", workload.name));
            assert_eq!(check(&outcome.answer), Ok(()), "{}", workload.name);
            // The check compares with these numbers, not with the generated ones.
            let generated = workload.instance(&settings, 1).unwrap_or_else(|error| panic!("{error}"));
            assert!(generated.check(&outcome.answer).is_err(), "{} ignores its files", workload.name);
            let mut wrong = outcome.answer.clone();
            wrong.parts_mut()[0].change(0, |bits| bits ^ 1 << 22);
            assert!(check(&wrong).is_err(), "{} checks nothing", workload.name);
        }
    }
}

#[test]
fn numbers_that_a_program_cannot_use_are_refused_with_their_place() {
    let refused = |name: &str, numbers: Vec<f32>, changes: &[(&str, &str)]| {
        let (program, mut settings) = program(name);
        for (name, value) in changes {
            settings.set(name, value).unwrap_or_else(|error| panic!("{error}"));
        }
        let columns = (program.files)(&settings)[0].expected.columns.0;
        let instance = (program.make)(&[Arc::new(Table::new(columns, numbers))], &settings, 1);
        instance.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(
        refused("barnes-hut", vec![0.0, 1.0, 2.0, 1.0, -0.0, 1.0, 2.0, 3.0], &[]),
        "workload `barnes-hut`: bodies 1 and 2 have the same place, expected different places"
    );
    assert_eq!(
        refused("barnes-hut", vec![0.0, 1.0, 2.0, 1.0, 0.5, 1.0, 2.0, 0.0], &[]),
        "workload `barnes-hut`: body 2 has the mass 0, expected more than 0"
    );
    let mut singular = vec![1.0; 256];
    singular[0] = 2.0;
    assert_eq!(
        refused("lud", singular, &[("n", "16")]),
        "workload `lud`: the decomposition divides by zero or overflows in row 4; the program does not exchange rows"
    );
    assert_eq!(
        refused("gaussian", vec![0.0, 1.0, 2.0, 1.0, 0.0, 3.0], &[("n", "2")]),
        "workload `gaussian`: the elimination divides by zero or overflows in equation 1; the program does not \
         exchange equations"
    );
}
