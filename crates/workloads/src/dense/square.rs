//! The square of each element of a vector, as in the first sample of the HIP SDK.

use kernel::prelude::*;

use crate::data;
use crate::group::grid_of;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static SQUARE: Workload = Workload {
    name: "square",
    summary: "squares each element of a vector, in a loop over the grid",
    origin: "HIP SDK sample `square` (AMD); Dalmia thesis (2023), Table 5.2",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("n", "3001"), ("work-groups", "5")],
        small: &[],
        // Table 5.2 gives the arguments `524288 1 2 2048 256`. We interpret them as 2 launches of
        // 2048 work-groups of 256 work-items.
        paper: &[("n", "512k"), ("launches", "2"), ("work-groups", "2048")],
    },
    settings: &[
        Setting::count("n", 256 << 10, 1, 1 << 28, "number of elements of the vector"),
        Setting::count("launches", 1, 1, 10_000, "number of launches of the kernel"),
        Setting::count("work-groups", 512, 1, 1 << 20, "number of work-groups of a launch"),
    ],
    make: |settings, seed| {
        settings.limit_arrays(&["n"], 8 * settings.count("n"))?;
        Ok(square(settings, seed))
    },
};

async fn square_all(w: Wave, from: Array<f32>, to: Array<f32>) {
    let mut base = w.first_item();
    while base < from.len() {
        let within = w.below(base, from.len());
        let x = within.load(from, Unit(base)).await;
        within.store(to, Unit(base), x * x);
        base += w.items();
    }
}

fn square(settings: &Settings, seed: u64) -> Instance {
    let (n, launches) = (settings.count("n"), settings.count("launches"));
    let groups = settings.count("work-groups");
    let program = Program::new("square", move |host| async move {
        let (from, to) = (host.alloc::<f32>("a", n), host.alloc::<f32>("c", n));
        host.write(from, &data::floats(seed, n)).await;
        let mut uses = [from.read(), to.write()];
        if groups * GROUP_ITEMS >= n {
            uses = uses.map(|used| used.in_parts(GROUP_ITEMS));
        }
        for _ in 0..launches {
            let kernel = Kernel::new("square", move |w| square_all(w, from, to)).uses(uses);
            host.launch(kernel, grid_of(&host.shape(), groups, GROUP_ITEMS as u32)).await;
        }
        Answer::new().with_array("c", &host, to).await
    });
    Instance::new(program, move |answer| {
        let squares: Vec<f32> = data::floats(seed, n).iter().map(|x| x * x).collect();
        answer.expect("c", &squares)
    })
}
