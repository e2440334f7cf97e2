//! The settings of protocols. A machine file gives their values.

/// A numeric setting that a protocol declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of the setting, for example `lease_ticks`.
    pub name: &'static str,
    /// The unit of the setting's value, for example `ticks`.
    pub unit: &'static str,
    /// The smallest allowed value.
    pub least: u64,
    /// The largest allowed value.
    pub most: u64,
    /// The value of the setting if the machine file gives none.
    pub default: u64,
    /// A description of the setting in one line.
    pub about: &'static str,
}

/// The values of a protocol's settings on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    values: Vec<(&'static str, u64)>,
}

impl Settings {
    /// All declared settings with their default values.
    #[must_use]
    pub fn new(declared: &[Setting]) -> Settings {
        Settings { values: declared.iter().map(|setting| (setting.name, setting.default)).collect() }
    }

    /// The same settings, but with this value for the setting `name`, which must be declared. The
    /// value may be out of its range only if the settings are for the explorer (the program that
    /// tries every schedule of a small machine).
    #[must_use]
    pub fn with(mut self, name: &str, value: u64) -> Settings {
        self.values.iter_mut().filter(|(known, _)| *known == name).for_each(|(_, old)| *old = value);
        self
    }

    /// Reads the settings that a machine file gives as names and values. The other declared
    /// settings get their default values.
    ///
    /// # Errors
    /// The name of a setting that is not declared or whose value is out of range, and a text that
    /// says what was expected.
    pub fn read(
        declared: &[Setting],
        given: &mut dyn Iterator<Item = (&str, u64)>,
    ) -> Result<Settings, (String, String)> {
        let mut settings = Settings::new(declared);
        for (name, value) in given {
            let Some(setting) = declared.iter().find(|setting| setting.name == name) else {
                let known: Vec<String> = declared.iter().map(|s| format!("`{}`", s.name)).collect();
                let expected = match known.is_empty() {
                    true => String::from("the protocol has no settings"),
                    false => format!("the protocol has no such setting, expected {}", known.join(", ")),
                };
                return Err((name.to_owned(), expected));
            };
            if !(setting.least..=setting.most).contains(&value) {
                let Setting { unit, least, most, .. } = setting;
                let expected = format!("{value} {unit}, expected {least} to {most}");
                return Err((name.to_owned(), expected));
            }
            settings = settings.with(name, value);
        }
        Ok(settings)
    }

    /// The value of a setting.
    ///
    /// # Errors
    /// A sentence that names the setting, if the protocol does not declare it.
    pub fn get(&self, name: &str) -> Result<u64, String> {
        let entry = self.values.iter().find(|(known, _)| *known == name);
        entry.map(|(_, value)| *value).ok_or_else(|| format!("the protocol declares no setting `{name}`"))
    }
}
