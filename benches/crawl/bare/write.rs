//! `Writer`: the rows of one store in one transaction, by binary COPY: into the tables when they are empty,
//! by way of a temporary table afterwards, so that only rows that differ are written.

use std::time::Duration;

use anyhow::Result;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt;
use tokio_postgres::{Client, NoTls, Statement};

use super::normalise::Row;
use crate::peer::Order;

/// Seconds from 1970 to 2000, where Postgres' times begin.
const POSTGRES_EPOCH: Duration = Duration::from_secs(946_684_800);
const MERGE: &str = include_str!("merge.sql");
const INCOMING: &str = "CREATE TEMP TABLE incoming (LIKE products) ON COMMIT DELETE ROWS";

pub struct Writer {
    client: Client,
    products: Statement,
    incoming: Statement,
    merge: Statement,
    snapshots: Statement,
}

impl Writer {
    pub async fn connect(url: &str) -> Result<Writer> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute(INCOMING).await?;
        Ok(Writer {
            products: client.prepare("COPY products FROM STDIN BINARY").await?,
            incoming: client.prepare("COPY incoming FROM STDIN BINARY").await?,
            merge: client.prepare(MERGE).await?,
            snapshots: client.prepare("COPY snapshots FROM STDIN BINARY").await?,
            client,
        })
    }

    pub async fn write(&mut self, order: Order, store: i32, crawled_at: Duration, rows: &[Row<'_>]) -> Result<()> {
        let products = file(rows, |out, row| product(out, store, row));
        let time = (crawled_at - POSTGRES_EPOCH).as_micros() as i64;
        let snapshots = file(rows, |out, row| snapshot(out, store, time, row));
        let tx = self.client.transaction().await?;
        match order {
            Order::First => copy(&tx, &self.products, products).await?,
            Order::Again => {
                copy(&tx, &self.incoming, products).await?;
                tx.execute(&self.merge, &[]).await?;
            }
        }
        copy(&tx, &self.snapshots, snapshots).await?;
        Ok(tx.commit().await?)
    }
}

async fn copy(tx: &tokio_postgres::Transaction<'_>, statement: &Statement, bytes: Bytes) -> Result<()> {
    let sink = tx.copy_in(statement).await?;
    let mut sink = std::pin::pin!(sink);
    sink.send(bytes).await?;
    sink.finish().await?;
    Ok(())
}

/// A binary COPY of the rows.
fn file(rows: &[Row<'_>], write: impl Fn(&mut Tuple<'_>, &Row<'_>)) -> Bytes {
    let mut out = BytesMut::with_capacity(512 * rows.len());
    out.put_slice(b"PGCOPY\n\xff\r\n\0");
    out.put_bytes(0, 8);
    for row in rows {
        let at = out.len();
        out.put_i16(0);
        let mut tuple = Tuple { out: &mut out, fields: 0 };
        write(&mut tuple, row);
        let fields = tuple.fields;
        out[at..at + 2].copy_from_slice(&fields.to_be_bytes());
    }
    out.put_i16(-1);
    out.freeze()
}

fn product(out: &mut Tuple<'_>, store: i32, row: &Row<'_>) {
    out.int(Some(store));
    out.text(Some(row.id));
    out.text(Some(&row.name));
    out.text(row.brand.as_deref());
    out.text(Some(row.category));
    out.text(row.subcategory.as_deref());
    out.text(row.strain_type.as_deref());
    out.text(row.image_url.as_deref());
    for price in [row.rec.regular, row.med.regular, row.rec.special, row.med.special] {
        out.int(price);
    }
    for potency in [row.thc.min, row.thc.max, row.cbd.min, row.cbd.max] {
        out.float(potency);
    }
    out.int(row.quantity);
    out.bool(row.quantity_censored);
    out.text(Some(row.stock_status));
    let options = &row.options;
    out.array(25, options.len(), options.iter().map(|option| Some(option.label.as_bytes())));
    out.array(20, options.len(), options.iter().map(|option| option.size_mg.map(i64::to_be_bytes)));
    out.array(701, options.len(), options.iter().map(|option| option.size_ml.map(f64::to_be_bytes)));
    out.ints(options.len(), options.iter().map(|option| option.rec.regular));
    out.ints(options.len(), options.iter().map(|option| option.med.regular));
    out.ints(options.len(), options.iter().map(|option| option.rec.special));
    out.ints(options.len(), options.iter().map(|option| option.med.special));
    out.ints(options.len(), options.iter().map(|option| option.quantity));
}

fn snapshot(out: &mut Tuple<'_>, store: i32, time: i64, row: &Row<'_>) {
    out.int(Some(store));
    out.text(Some(row.id));
    out.field(Some(time.to_be_bytes()));
    for price in [row.rec.regular, row.med.regular, row.rec.special, row.med.special] {
        out.int(price);
    }
    out.float(row.thc.min);
    out.float(row.thc.max);
    out.int(row.quantity);
    out.text(Some(row.stock_status));
}

/// One row of a binary COPY.
struct Tuple<'a> {
    out: &'a mut BytesMut,
    fields: i16,
}

impl Tuple<'_> {
    fn text(&mut self, text: Option<&str>) {
        self.field(text.map(str::as_bytes));
    }

    fn int(&mut self, number: Option<i32>) {
        self.field(number.map(i32::to_be_bytes));
    }

    fn float(&mut self, number: Option<f64>) {
        self.field(number.map(f64::to_be_bytes));
    }

    fn bool(&mut self, is: bool) {
        self.field(Some([u8::from(is)]));
    }

    fn field(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        self.fields += 1;
        put(self.out, bytes);
    }

    fn ints(&mut self, length: usize, numbers: impl Iterator<Item = Option<i32>>) {
        self.array(23, length, numbers.map(|number| number.map(i32::to_be_bytes)));
    }

    /// `oid`: of the elements' type.
    fn array<T: AsRef<[u8]>>(&mut self, oid: i32, length: usize, elements: impl Iterator<Item = Option<T>>) {
        self.fields += 1;
        let at = self.out.len();
        self.out.put_i32(0);
        let dimensions = i32::from(length > 0);
        for number in [dimensions, 1, oid] {
            self.out.put_i32(number);
        }
        if length > 0 {
            self.out.put_i32(length as i32);
            self.out.put_i32(1);
        }
        elements.for_each(|element| put(self.out, element));
        let size = (self.out.len() - at - 4) as i32;
        self.out[at..at + 4].copy_from_slice(&size.to_be_bytes());
    }
}

/// Its length, and the bytes; −1 for null.
fn put(out: &mut BytesMut, bytes: Option<impl AsRef<[u8]>>) {
    match bytes {
        None => out.put_i32(-1),
        Some(bytes) => {
            out.put_i32(bytes.as_ref().len() as i32);
            out.put_slice(bytes.as_ref());
        }
    }
}
