//! Postgres: one connection on a runtime of its own, which runs while an answer is awaited. Encrypted unless the server is on
//! this machine.

use std::collections::HashMap;
use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use net::client::{Dialer, HttpAddress, Io};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Statement};
use url::Url;

use super::{Dialect, Failure, STATEMENT, Sql, Value};
use crate::PostgresAddress;
use crate::rows::Row;

/// How many prepared statements are kept.
const PREPARED: usize = 256;
/// A coordinator that hangs in a transaction, or waits for one that does, must not stop the others.
const SESSION: &str = "SET idle_in_transaction_session_timeout = 60000; SET lock_timeout = 15000; \
                       SET standard_conforming_strings = on";

pub(super) struct Postgres {
    // Dropped before the runtime on which its connection runs.
    client: Client,
    prepared: HashMap<String, Statement>,
    runtime: Runtime,
}

impl Postgres {
    pub(super) fn connect(address: &PostgresAddress, limit: Duration) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Refused(error.to_string()))?;
        let client = runtime.block_on(async {
            let opened = timeout(limit, open(address, limit)).await;
            opened.unwrap_or_else(|_| Err(Failure::Lost("Postgres did not answer in time".to_owned())))
        })?;
        let mut postgres = Self { client, prepared: HashMap::new(), runtime };
        postgres.batch(SESSION)?;
        Ok(postgres)
    }

    fn wait<T>(
        runtime: &Runtime,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        match runtime.block_on(async { timeout(STATEMENT, answer).await }) {
            Ok(answer) => answer.map_err(Failure::from),
            Err(_) => Err(Failure::Lost("Postgres did not answer in time".to_owned())),
        }
    }

    fn prepare(&mut self, text: &str) -> Result<Statement, Failure> {
        if let Some(known) = self.prepared.get(text) {
            return Ok(known.clone());
        }
        let statement = Self::wait(&self.runtime, self.client.prepare(text))?;
        if self.prepared.len() >= PREPARED {
            self.prepared.clear();
        }
        self.prepared.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// The configuration never leaves this function: it holds the password.
async fn open(address: &PostgresAddress, limit: Duration) -> Result<Client, Failure> {
    let mut config = Config::new();
    config.user(&address.user).dbname(&address.database).application_name("proof fleet");
    if let Some(password) = &address.password {
        config.password(password);
    }
    config.ssl_mode(if address.is_local() { SslMode::Disable } else { SslMode::Require });
    let host = if address.host.contains(':') { format!("[{}]", address.host) } else { address.host.clone() };
    let url = Url::parse(&format!("http://{host}:{}/", address.port));
    let url = url.map_err(|_| Failure::Refused("the host of Postgres is not one".to_owned()))?;
    let dialer = Dialer::new(&HttpAddress::new(url), limit).map_err(|error| Failure::Refused(error.what()))?;
    let stream = dialer.dial().await.map_err(|error| Failure::Lost(error.what()))?;
    if address.is_local() {
        let (client, connection) = config.connect_raw(stream, NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    } else {
        let (client, connection) = config.connect_raw(stream, Encrypting(address.clone())).await?;
        tokio::spawn(connection);
        Ok(client)
    }
}

impl Sql for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn batch(&mut self, text: &str) -> Result<(), Failure> {
        Self::wait(&self.runtime, self.client.batch_execute(text))
    }

    fn query(&mut self, text: &str, values: &[Value]) -> Result<Vec<Row>, Failure> {
        let statement = self.prepare(text)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        let rows = Self::wait(&self.runtime, self.client.query(&statement, &values))?;
        rows.iter().map(|row| (0..row.len()).map(|at| value(row, at)).collect::<Result<_, _>>().map(Row)).collect()
    }

    fn execute(&mut self, text: &str, values: &[Value]) -> Result<u64, Failure> {
        let statement = self.prepare(text)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
        Self::wait(&self.runtime, self.client.execute(&statement, &values))
    }

    fn begin(&mut self, writes: bool) -> Result<(), Failure> {
        self.batch(if writes { "BEGIN" } else { "BEGIN READ ONLY" })
    }
}

fn value(row: &tokio_postgres::Row, at: usize) -> Result<Value, Failure> {
    let kind = row.columns()[at].type_().clone();
    let read = match kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(at).map(|value| value.map(Value::Integer)),
        Type::INT4 => row.try_get::<_, Option<i32>>(at).map(|value| value.map(|number| Value::Integer(number.into()))),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(at).map(|value| value.map(Value::Real)),
        _ => row.try_get::<_, Option<String>>(at).map(|value| value.map(Value::Text)),
    };
    Ok(read?.unwrap_or(Value::Null))
}

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) if *kind == Type::FLOAT8 => (*number as f64).to_sql_checked(kind, out),
            Self::Integer(number) => number.to_sql_checked(kind, out),
            Self::Real(number) => number.to_sql_checked(kind, out),
            Self::Text(text) => text.to_sql_checked(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(answer) = error.as_db_error() else {
            let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
            let why = format!("{error}{cause}");
            // Without an answer of the server, the connection is what failed.
            return if error.is_closed() || error.source().is_some_and(|cause| cause.is::<io::Error>()) {
                Self::Lost(why)
            } else {
                Self::Refused(why)
            };
        };
        let why = answer.message().to_owned();
        match answer.code() {
            &SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED | &SqlState::LOCK_NOT_AVAILABLE => {
                Self::Busy(why)
            }
            &SqlState::ADMIN_SHUTDOWN
            | &SqlState::CRASH_SHUTDOWN
            | &SqlState::CANNOT_CONNECT_NOW
            | &SqlState::TOO_MANY_CONNECTIONS
            | &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Self::Lost(why),
            _ => Self::Refused(why),
        }
    }
}

/// Encrypts the connection once Postgres agreed to it; the certificate is always verified.
struct Encrypting(PostgresAddress);

impl TlsConnect<Box<dyn Io>> for Encrypting {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, stream: Box<dyn Io>) -> Self::Future {
        Box::pin(async move {
            let secured = net::client::secure(stream, &self.0.host, self.0.ca()).await;
            secured.map(Encrypted).map_err(io::Error::other)
        })
    }
}

/// A connection that is encrypted.
struct Encrypted(Box<dyn Io>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
