//! Rates and costs that all gateways count together. The store lends each gateway some requests, or some of an account, in one
//! step; what a gateway does with them, callers decide.

use std::time::Duration;

use redis::{Value, from_redis_value};

use super::{Away, PREFIX, SharedStore, scripts};

/// What names a count: no two counts have the same.
pub(crate) type CountName = [u8; 32];

/// What is asked for of one rate.
#[derive(Clone, Debug)]
pub(crate) struct RateWanted {
    pub(crate) name: CountName,
    /// The time that one request takes up, in nanoseconds.
    pub(crate) each: u64,
    /// How many requests at once.
    pub(crate) burst: u32,
    /// How many requests at most are to be lent, at least one.
    pub(crate) most: u32,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RatesLent {
    /// So many of each.
    Lent(Vec<u32>),
    /// None of any: which one refuses, and for how long.
    Refused { which: usize, again: Duration },
}

/// An account that all gateways charge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedAccount {
    pub(crate) name: CountName,
    /// How much may be spent in all parts together,
    pub(crate) allow: u64,
    /// how long a part is,
    pub(crate) part: Duration,
    /// and how many parts count before the present one.
    pub(crate) parts: u64,
}

/// What came of a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CostLent {
    /// So much can be spent in this part, which lasts for so long.
    Lent { amount: u64, part: u64, lasts: Duration },
    /// So little is left, and when it is enough.
    TooLittle { left: u64, again: Duration },
}

impl SharedStore {
    /// Takes at least one request from each of these rates, or none from any.
    pub(crate) async fn lend_rates(&self, wanted: &[RateWanted]) -> Result<RatesLent, Away> {
        let keys: Vec<_> = wanted.iter().map(|one| key(b"rate:", &one.name)).collect();
        let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
        let mut command = scripts::command(scripts::RATES, &keys);
        for one in wanted {
            let each = sixteenths(one.each);
            command.arg(each).arg(each * f64::from(one.burst)).arg(one.most);
        }
        let reply: Vec<i64> = self.run(&command).await?;
        match &reply[..] {
            [0, lent @ ..] if lent.len() == wanted.len() => {
                Ok(RatesLent::Lent(lent.iter().map(|count| u32::try_from(*count).unwrap_or_default()).collect()))
            }
            [1, which, micros] => {
                let which = usize::try_from(*which).map_err(|_| Away)?;
                Ok(RatesLent::Refused { which, again: micros_to_time(*micros) })
            }
            _ => Err(Away),
        }
    }

    /// Takes at least `least` and at most `most` from an account.
    pub(crate) async fn lend_cost(&self, account: &SharedAccount, least: u64, most: u64) -> Result<CostLent, Away> {
        let mut command = scripts::command(scripts::COST, &[&key(b"cost:", &account.name)]);
        command.arg(account.part.as_micros() as u64).arg(account.parts).arg(account.allow).arg(least).arg(most);
        let reply: Vec<Value> = self.run(&command).await?;
        let reply: Vec<i64> = reply.into_iter().map(from_redis_value).collect::<Result<_, _>>().map_err(|_| Away)?;
        match reply[..] {
            [0, amount, part, micros] => {
                let (amount, part) = (u64::try_from(amount), u64::try_from(part));
                let (amount, part) = (amount.map_err(|_| Away)?, part.map_err(|_| Away)?);
                Ok(CostLent::Lent { amount, part, lasts: micros_to_time(micros) })
            }
            [1, left, micros] => {
                Ok(CostLent::TooLittle { left: u64::try_from(left).unwrap_or_default(), again: micros_to_time(micros) })
            }
            _ => Err(Away),
        }
    }

    /// Returns what was lent and not spent.
    pub(crate) async fn return_cost(&self, account: &SharedAccount, part: u64, amount: u64) -> Result<(), Away> {
        let mut command = scripts::command(scripts::RETURN, &[&key(b"cost:", &account.name)]);
        command.arg(part).arg(amount);
        self.run::<i64>(&command).await.map(|_| ())
    }
}

fn key(kind: &[u8], name: &CountName) -> Vec<u8> {
    [PREFIX.as_bytes(), kind, name].concat()
}

/// Microseconds in sixteenths, rounded up: the store counts in floating point, and these are exact.
fn sixteenths(nanos: u64) -> f64 {
    (nanos as f64 / 1000.0 * 16.0).ceil() / 16.0
}

fn micros_to_time(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}
