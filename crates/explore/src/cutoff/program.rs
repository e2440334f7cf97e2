//! The programs that are examined for any number of compute units. Each program has one sender of
//! data and some equal listeners, which receive the data.

/// The largest number of listeners (compute units that receive data) in an explored program.
pub(super) const LISTENERS_MAX: usize = 3;

/// The words of the programs, in this order: the data and the flag that the sender writes, then the
/// data and the flag that the listeners (receiving compute units) write.
const WORDS: [&str; 4] = ["x", "f", "z", "g"];

/// An assignment of the four words of a program to lines.
pub(super) struct Layout {
    /// The name of the layout. The name says where the words lie that the listeners (receiving
    /// compute units) write, such as beside the data.
    pub(super) name: &'static str,
    /// The lines of the words `x`, `f`, `z` and `g`, in this order.
    lines: [u8; 4],
}

impl Layout {
    /// The line of a word.
    pub(super) fn line(&self, word: &str) -> u8 {
        let at = WORDS.iter().position(|known| *known == word);
        at.map_or(0, |at| self.lines[at])
    }
}

/// All layouts (assignments of words to lines). The data word of the listeners (receiving compute
/// units) lies in the line of the sender's data, in the line of the sender's flag, or in the one
/// line that holds all words.
pub(super) const LAYOUTS: [Layout; 3] = [
    Layout { name: "beside the data", lines: [0, 1, 0, 1] },
    Layout { name: "beside the flag", lines: [0, 1, 1, 0] },
    Layout { name: "beside both", lines: [0, 0, 0, 0] },
];

/// The code of a listener (a compute unit that receives data from the sender).
pub(super) struct Listener {
    /// The name of the flag's path: the flag goes from the sender to each listener (receiving
    /// compute unit), or from listener to listener.
    pub(super) name: &'static str,
    /// The statements of the code, with the placeholder `SCOPE` for the scope of each atomic.
    code: &'static str,
}

/// The code of the sender. First it loads all words, so that the shared cache holds the lines. Then
/// it writes the data, and a flag that releases the data.
const SENDER: &str = "  int r0 = *x;
  int r1 = *z;
  int r2 = atomic_load_explicit(f, memory_order_relaxed, SCOPE);
  int r3 = atomic_load_explicit(g, memory_order_relaxed, SCOPE);
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, SCOPE);
";

/// The number of loads at the start of the sender.
pub(super) const LOADS: u16 = 4;

/// The two kinds of listeners (compute units that receive data). Each listener runs a loop, in
/// which it caches the data early. It leaves the loop only if it acquires a flag but does not read
/// the data that the flag releases. A listener of the first kind writes a word and releases a flag
/// of its own. A listener of the second kind reads both flags, and releases its own flag only after
/// it has acquired a flag. So the data may pass through any number of listeners.
pub(super) const LISTENERS: [Listener; 2] = [
    Listener {
        name: "direct",
        code: "  int ok = 1;
  while (ok == 1) {
    int r0 = *x;
    *z = 1;
    int r1 = atomic_load_explicit(f, memory_order_acquire, SCOPE);
    int r2 = *x;
    ok = r2 | (1 - r1);
    atomic_store_explicit(g, 1, memory_order_release, SCOPE);
  }
",
    },
    Listener {
        name: "passed on",
        code: "  int ok = 1;
  while (ok == 1) {
    int r0 = *x;
    int r1 = atomic_load_explicit(f, memory_order_acquire, SCOPE);
    int r2 = 0;
    if (r1 == 0) {
      r2 = atomic_load_explicit(g, memory_order_acquire, SCOPE);
    }
    r1 = r1 | r2;
    int r3 = *x;
    ok = r3 | (1 - r1);
    if (r1 == 1) {
      atomic_store_explicit(g, 1, memory_order_release, SCOPE);
    }
  }
",
    },
];

/// The program of one sender and [`LISTENERS_MAX`] listeners (receiving compute units), as text.
/// All atomics have the scope `scope`.
pub(super) fn text(listener: &Listener, scope: &str) -> String {
    let parameters = WORDS.map(|word| match word {
        "f" | "g" => format!("global atomic_int* {word}"),
        _ => format!("global int* {word}"),
    });
    let parameters = parameters.join(", ");
    let code = |number: usize| if number == 0 { SENDER } else { listener.code };
    let mut text = String::from("OPENCL any-units\n\n{");
    text.extend(WORDS.map(|word| format!(" [{word}] = 0;")));
    text.push_str(" }\n\n");
    for number in 0..=LISTENERS_MAX {
        let code = code(number).replace("SCOPE", &format!("memory_scope_{scope}"));
        text.push_str(&format!("P{number} ({parameters}) {{\n{code}}}\n\n"));
    }
    text.push_str("scopeTree (device");
    text.extend((0..=LISTENERS_MAX).map(|number| format!(" (work_group P{number})")));
    text.push_str(")\n\nexists (x=1)\n");
    text
}
