//! The settings of workloads: their declarations, and their values, which are parsed from text.

use core::fmt;

use crate::nearest::nearest;

/// The declaration of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of the setting.
    pub name: &'static str,
    /// A text that explains the setting to the user.
    pub meaning: &'static str,
    /// The kind of the setting's values, with their range and default.
    pub kind: SettingKind,
}

/// The kind of a setting's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// The value is a whole number.
    Count {
        /// The value if the user gives none.
        default: u64,
        /// The smallest allowed value.
        min: u64,
        /// The largest allowed value.
        max: u64,
    },
    /// The value is a decimal number.
    Decimal {
        /// The value if the user gives none, as text.
        default: &'static str,
        /// The smallest allowed value.
        min: u32,
        /// The largest allowed value.
        max: u32,
    },
    /// The value is one of several names, each with its meaning. The first one is the default.
    Policy(&'static [(&'static str, &'static str)]),
}

impl Setting {
    /// Declares a setting whose value is a whole number.
    #[must_use]
    pub const fn count(name: &'static str, default: u64, min: u64, max: u64, meaning: &'static str) -> Self {
        Setting { name, meaning, kind: SettingKind::Count { default, min, max } }
    }

    /// Declares a setting whose value is a decimal number from `min` to `max`.
    #[must_use]
    pub const fn decimal(
        name: &'static str,
        default: &'static str,
        (min, max): (u32, u32),
        meaning: &'static str,
    ) -> Self {
        Setting { name, meaning, kind: SettingKind::Decimal { default, min, max } }
    }

    /// Declares a policy: a setting whose value is one of several names. Each name has its meaning.
    #[must_use]
    pub const fn policy(
        name: &'static str,
        choices: &'static [(&'static str, &'static str)],
        meaning: &'static str,
    ) -> Self {
        Setting { name, meaning, kind: SettingKind::Policy(choices) }
    }
}

/// The maximum size of all arrays of a program, in bytes. A run needs several times as much memory,
/// because the host has copies of the arrays.
const ARRAYS_BYTES_MAX: u64 = 1 << 30;

/// The values of all settings of one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    workload: &'static str,
    declared: &'static [Setting],
    values: Vec<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Count(u64),
    /// A decimal number, stored as the bits of an `f64`.
    Decimal(u64),
    Choice(&'static str),
}

/// The error of a setting whose name or value is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadSetting {
    /// The workload has no such setting.
    UnknownName {
        /// The name of the workload.
        workload: &'static str,
        /// The name that was given.
        name: String,
        /// The names of all settings of the workload.
        known: Vec<&'static str>,
    },
    /// The given name is not one of the choices of a policy.
    UnknownChoice {
        /// The name of the workload.
        workload: &'static str,
        /// The name of the policy, or `policy` if the user named only the choice.
        setting: &'static str,
        /// The choice that was given.
        choice: String,
        /// All choices of the setting.
        known: Vec<&'static str>,
    },
    /// The text given for a setting is not a whole number within the setting's range.
    BadCount {
        /// The name of the workload.
        workload: &'static str,
        /// The name of the setting.
        setting: &'static str,
        /// The text that was given.
        text: String,
        /// The smallest allowed value.
        min: u64,
        /// The largest allowed value.
        max: u64,
    },
    /// The text given for a setting is not a decimal number within the setting's range.
    BadDecimal {
        /// The name of the workload.
        workload: &'static str,
        /// The name of the setting.
        setting: &'static str,
        /// The text that was given.
        text: String,
        /// The smallest allowed value.
        min: u32,
        /// The largest allowed value.
        max: u32,
    },
    /// The settings contradict each other.
    Conflict {
        /// The name of the workload.
        workload: &'static str,
        /// The contradiction between the settings, as a sentence.
        why: String,
    },
}

/// The end of an error message: the known name that is nearest to `name`, and all known names.
pub(crate) fn known_names(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return "there are none".to_owned();
    }
    let list = known.join(", ");
    match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`? There are: {list}"),
        None => format!("there are: {list}"),
    }
}

impl fmt::Display for BadSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadSetting::UnknownName { workload, name, known } => {
                write!(f, "workload `{workload}` has no setting `{name}`; {}", known_names(name, known))
            }
            BadSetting::UnknownChoice { workload, setting, choice, known } => {
                let names = known_names(choice, known);
                write!(f, "workload `{workload}` has no {setting} `{choice}`; {names}")
            }
            BadSetting::BadCount { workload, setting, text, min, max } => write!(
                f,
                "setting `{setting}` of workload `{workload}` is `{text}`, \
                 but must be a whole number from {min} to {max}"
            ),
            BadSetting::BadDecimal { workload, setting, text, min, max } => write!(
                f,
                "setting `{setting}` of workload `{workload}` is `{text}`, \
                 but must be a decimal number from {min} to {max}"
            ),
            BadSetting::Conflict { workload, why } => write!(f, "workload `{workload}`: {why}"),
        }
    }
}

impl core::error::Error for BadSetting {}

impl Settings {
    pub(crate) fn defaults(workload: &'static str, declared: &'static [Setting]) -> Self {
        let value = |setting: &Setting| match setting.kind {
            SettingKind::Count { default, .. } => Value::Count(default),
            SettingKind::Decimal { default, .. } => {
                Value::Decimal(default.parse().unwrap_or(0.0f64).to_bits())
            }
            SettingKind::Policy(choices) => Value::Choice(choices.first().map_or("", |c| c.0)),
        };
        Settings { workload, declared, values: declared.iter().map(value).collect() }
    }

    /// Sets one setting from text. Example: the name `n` and the text `4096`. A number may have `_`
    /// between digits, and a suffix `k` for 1024 or `m` for 1024 * 1024.
    ///
    /// # Errors
    /// If the setting does not exist, or the text is not a valid value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), BadSetting> {
        let workload = self.workload;
        let Some(index) = self.declared.iter().position(|s| s.name == name) else {
            let known = self.declared.iter().map(|s| s.name).collect();
            return Err(BadSetting::UnknownName { workload, name: name.to_owned(), known });
        };
        let setting = self.declared[index].name;
        self.values[index] = match self.declared[index].kind {
            SettingKind::Count { min, max, .. } => match count(text).filter(|n| (min..=max).contains(n)) {
                Some(n) => Value::Count(n),
                None => {
                    let text = text.to_owned();
                    return Err(BadSetting::BadCount { workload, setting, text, min, max });
                }
            },
            SettingKind::Decimal { min, max, .. } => match decimal(text, min, max) {
                Some(value) => Value::Decimal(value.to_bits()),
                None => {
                    let text = text.to_owned();
                    return Err(BadSetting::BadDecimal { workload, setting, text, min, max });
                }
            },
            SettingKind::Policy(choices) => match choices.iter().find(|c| c.0 == text) {
                Some(choice) => Value::Choice(choice.0),
                None => {
                    let known = choices.iter().map(|c| c.0).collect();
                    let choice = text.to_owned();
                    return Err(BadSetting::UnknownChoice { workload, setting, choice, known });
                }
            },
        };
        Ok(())
    }

    /// Sets the policy that has the choice `text`, such as `work-group`. `text` may have several
    /// choices, separated by commas, such as `work-group,same-cu`.
    ///
    /// # Errors
    /// If no policy of the workload has such a choice.
    pub fn set_policy(&mut self, text: &str) -> Result<(), BadSetting> {
        for choice in text.split(',').map(str::trim) {
            let found = self.declared.iter().enumerate().find_map(|(index, setting)| match setting.kind {
                SettingKind::Policy(choices) => choices.iter().find(|c| c.0 == choice).map(|c| (index, c.0)),
                SettingKind::Count { .. } | SettingKind::Decimal { .. } => None,
            });
            match found {
                Some((index, name)) => self.values[index] = Value::Choice(name),
                None => {
                    let known = self.declared.iter().flat_map(|setting| match setting.kind {
                        SettingKind::Policy(choices) => choices.iter().map(|c| c.0).collect(),
                        SettingKind::Count { .. } | SettingKind::Decimal { .. } => Vec::new(),
                    });
                    return Err(BadSetting::UnknownChoice {
                        workload: self.workload,
                        setting: "policy",
                        choice: choice.to_owned(),
                        known: known.collect(),
                    });
                }
            }
        }
        Ok(())
    }

    /// The value of a setting that is a whole number.
    ///
    /// # Panics
    /// If the workload declares no such setting.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        match self.value(name) {
            Some(Value::Count(n)) => n,
            _ => panic!("workload `{}` declares no number `{name}`", self.workload),
        }
    }

    /// The value of a setting that is a decimal number.
    ///
    /// # Panics
    /// If the workload declares no such setting.
    #[must_use]
    pub fn decimal(&self, name: &str) -> f64 {
        match self.value(name) {
            Some(Value::Decimal(bits)) => f64::from_bits(bits),
            _ => panic!("workload `{}` declares no decimal number `{name}`", self.workload),
        }
    }

    /// The name of the current choice of a policy.
    ///
    /// # Panics
    /// If the workload declares no such policy.
    #[must_use]
    pub fn choice(&self, policy: &str) -> &'static str {
        match self.value(policy) {
            Some(Value::Choice(name)) => name,
            _ => panic!("workload `{}` declares no policy `{policy}`", self.workload),
        }
    }

    /// Whether the current choice of the policy is `choice`.
    ///
    /// # Panics
    /// If the workload declares no such policy, or the policy has no such choice.
    #[must_use]
    pub fn is(&self, policy: &str, choice: &str) -> bool {
        let declared = self.declared.iter().find(|s| s.name == policy).map(|s| s.kind);
        let known = matches!(declared, Some(SettingKind::Policy(all)) if all.iter().any(|c| c.0 == choice));
        assert!(known, "workload `{}` declares no `{choice}` of policy `{policy}`", self.workload);
        matches!(self.value(policy), Some(Value::Choice(set)) if set == choice)
    }

    /// All settings with their values as text, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Setting, String)> + '_ {
        self.declared.iter().zip(&self.values).map(|(setting, value)| match value {
            Value::Count(n) => (setting, n.to_string()),
            Value::Decimal(bits) => (setting, f64::from_bits(*bits).to_string()),
            Value::Choice(name) => (setting, (*name).to_owned()),
        })
    }

    pub(crate) fn conflict(&self, why: String) -> BadSetting {
        BadSetting::Conflict { workload: self.workload, why }
    }

    /// Checks the size of a program. `bytes` is the size of all its arrays, and `names` are the
    /// settings that determine this size.
    ///
    /// # Errors
    /// If the arrays exceed the limit that all workloads share.
    pub(crate) fn limit_arrays(&self, names: &[&str], bytes: u64) -> Result<(), BadSetting> {
        if bytes <= ARRAYS_BYTES_MAX {
            return Ok(());
        }
        let values: Vec<_> = names.iter().map(|name| format!("`{name}`={}", self.count(name))).collect();
        Err(self.conflict(format!(
            "the arrays for {} have {bytes} bytes, expected at most {ARRAYS_BYTES_MAX}",
            values.join(" ")
        )))
    }

    fn value(&self, name: &str) -> Option<Value> {
        let index = self.declared.iter().position(|s| s.name == name)?;
        self.values.get(index).copied()
    }
}

fn count(text: &str) -> Option<u64> {
    let (digits, factor) = match text.trim() {
        t if t.ends_with(['k', 'K']) => (&t[..t.len() - 1], 1 << 10),
        t if t.ends_with(['m', 'M']) => (&t[..t.len() - 1], 1 << 20),
        t => (t, 1),
    };
    let plain: String = digits.chars().filter(|&c| c != '_').collect();
    if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    plain.parse::<u64>().ok()?.checked_mul(factor)
}

/// The value of a text with digits and, optionally, a point and more digits. `None` if the text has
/// another form, or the value is not from `min` to `max`.
fn decimal(text: &str, min: u32, max: u32) -> Option<f64> {
    let text = text.trim();
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let value = text.parse::<f64>().ok().filter(|_| is_plain)?;
    (f64::from(min)..=f64::from(max)).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    static DECLARED: [Setting; 3] = [
        Setting::count("items", 100, 1, 1 << 20, "how many"),
        Setting::policy("scope", &[("device", "d"), ("work-group", "w")], "which scope"),
        Setting::policy("cus", &[("different-cus", "d"), ("same-cu", "s")], "where"),
    ];

    fn settings() -> Settings {
        Settings::defaults("demo", &DECLARED)
    }

    #[test]
    fn settings_start_at_their_defaults_and_take_text() {
        let mut s = settings();
        assert_eq!((s.count("items"), s.is("scope", "device")), (100, true));
        for (text, want) in [("7", 7), ("1_000", 1000), ("2k", 2048), ("1M", 1 << 20), (" 5 ", 5)] {
            assert_eq!(s.set("items", text), Ok(()), "{text}");
            assert_eq!(s.count("items"), want);
        }
        assert_eq!(s.set_policy("work-group, same-cu"), Ok(()));
        assert!(s.is("scope", "work-group") && s.is("cus", "same-cu") && !s.is("cus", "different-cus"));
        let text: Vec<_> = s.iter().map(|(setting, value)| format!("{}={value}", setting.name)).collect();
        assert_eq!(text, ["items=5", "scope=work-group", "cus=same-cu"]);
    }

    #[test]
    fn text_that_is_not_a_number_in_range_is_refused_and_changes_nothing() {
        for text in
            ["", "0", "-1", "1.5", "k", "1048577", "2m", "99999999999999999999", "18446744073709551615k"]
        {
            let mut s = settings();
            let message = s.set("items", text).map_err(|e| e.to_string());
            let want = format!(
                "setting `items` of workload `demo` is `{text}`, \
                 but must be a whole number from 1 to 1048576"
            );
            assert_eq!(message, Err(want));
            assert_eq!(s, settings());
        }
    }

    #[test]
    fn a_misspelled_name_or_choice_gets_the_nearest_one() {
        let mut s = settings();
        let message = |r: Result<(), BadSetting>| r.map_err(|e| e.to_string()).err().unwrap_or_default();
        assert_eq!(
            message(s.set("itens", "1")),
            "workload `demo` has no setting `itens`; did you mean `items`? There are: items, scope, cus"
        );
        assert_eq!(
            message(s.set("scope", "devise")),
            "workload `demo` has no scope `devise`; did you mean `device`? There are: device, work-group"
        );
        assert!(
            message(s.set_policy("device,samecu")).contains("no policy `samecu`; did you mean `same-cu`?")
        );
        assert!(message(s.set_policy("zzzzzzz")).contains("; there are: device, work-group, different-cus"));
    }
}
