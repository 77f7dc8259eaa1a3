//! Arguments of the form `NAME=VALUE`.

use std::collections::HashMap;

use fleet_store::{Location, Options, Store};

use super::Failed;

pub(crate) struct Arguments(HashMap<String, String>);

impl Arguments {
    pub(crate) fn read(words: impl Iterator<Item = String>) -> Result<Self, Failed> {
        let pair = |word: String| {
            let pair = word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
            pair.ok_or_else(|| Failed::from(format!("{word:?} is not NAME=VALUE")))
        };
        words.map(pair).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, Failed> {
        self.find(name).ok_or_else(|| format!("{name}=… is missing").into())
    }

    pub(crate) fn number(&self, name: &str, default: u64) -> Result<u64, Failed> {
        self.find(name)
            .map_or(Ok(default), |text| text.parse().map_err(|_| format!("{name}={text} is not a number").into()))
    }

    pub(crate) async fn store(&self) -> Result<Store, Failed> {
        let location = Location::parse(self.text("store")?)?;
        Ok(Store::open(Options::new(location, self.text("artefacts")?)).await?)
    }
}
