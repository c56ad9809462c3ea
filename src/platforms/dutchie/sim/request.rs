//! `GraphqlRequest`: one request of a client, read from a URL or a body.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use url::form_urlencoded;

use super::selection::Selection;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    FilteredProducts,
    ConsumerDispensaries,
    DispensarySearch,
}

impl Operation {
    pub const ALL: [Operation; 3] =
        [Operation::FilteredProducts, Operation::ConsumerDispensaries, Operation::DispensarySearch];

    pub fn name(self) -> &'static str {
        match self {
            Operation::FilteredProducts => "FilteredProducts",
            Operation::ConsumerDispensaries => "ConsumerDispensaries",
            Operation::DispensarySearch => "DispensarySearch",
        }
    }

    /// The field of the query that has its answer.
    fn root_field(self) -> &'static str {
        match self {
            Operation::FilteredProducts => "filteredProducts",
            Operation::ConsumerDispensaries | Operation::DispensarySearch => "filteredDispensaries",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GraphqlRequest {
    pub(crate) operation: Operation,
    pub(crate) variables: Value,
    pub(crate) ask: Ask,
}

/// How the query itself is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Hash(String),
    FullText(Selection),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Parts {
    operation_name: String,
    variables: Value,
    extensions: Value,
    query: Option<String>,
}

impl GraphqlRequest {
    /// Reads the query string of a GET. Errors are the text of a 400.
    pub(crate) fn of_query(query: &str) -> Result<GraphqlRequest, Cow<'static, str>> {
        let mut parts = Parts::default();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*key {
                "operationName" => parts.operation_name = value.into_owned(),
                "variables" => parts.variables = json(&key, &value)?,
                "extensions" => parts.extensions = json(&key, &value)?,
                "query" => parts.query = Some(value.into_owned()),
                _ => {}
            }
        }
        parts.read()
    }

    /// Reads the body of a POST.
    pub(crate) fn of_body(body: &[u8]) -> Result<GraphqlRequest, Cow<'static, str>> {
        let parts: Parts =
            serde_json::from_slice(body).map_err(|error| format!("body is no GraphQL request: {error}"))?;
        parts.read()
    }

    /// The store it names: an id or a slug.
    pub(crate) fn store(&self) -> Option<&str> {
        match self.operation {
            Operation::FilteredProducts => self.variables["productsFilter"]["dispensaryId"].as_str(),
            Operation::ConsumerDispensaries | Operation::DispensarySearch => self.filter()["cNameOrID"].as_str(),
        }
    }

    /// The page of a menu, from 0.
    pub(crate) fn page(&self) -> Option<usize> {
        self.variables["page"].as_u64().map(|page| page as usize)
    }

    pub(crate) fn per_page(&self) -> Option<usize> {
        self.variables["perPage"].as_u64().map(|size| size as usize)
    }

    pub(crate) fn filter(&self) -> &Value {
        &self.variables["dispensaryFilter"]
    }
}

impl Parts {
    fn read(self) -> Result<GraphqlRequest, Cow<'static, str>> {
        let operation = Operation::ALL
            .into_iter()
            .find(|operation| operation.name() == self.operation_name)
            .ok_or_else(|| format!("unknown operation '{}'", self.operation_name))?;
        let hash = self.extensions["persistedQuery"]["sha256Hash"].as_str();
        let ask = match (self.query, hash) {
            (Some(text), _) => Ask::FullText(selection(operation, &text)?),
            (None, Some(hash)) => Ask::Hash(hash.to_owned()),
            (None, None) => return Err("neither a query nor a persistedQuery extension".into()),
        };
        Ok(GraphqlRequest { operation, variables: self.variables, ask })
    }
}

fn selection(operation: Operation, text: &str) -> Result<Selection, Cow<'static, str>> {
    let selection = Selection::of(text).ok_or("Syntax Error: the braces of the query do not match")?;
    match selection.asks_for(operation.root_field()) {
        true => Ok(selection),
        false => Err(format!("query does not ask for {}", operation.root_field()).into()),
    }
}

fn json(key: &str, text: &str) -> Result<Value, Cow<'static, str>> {
    serde_json::from_str(text).map_err(|error| format!("{key} is no JSON: {error}").into())
}
