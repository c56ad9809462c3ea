//! `Describe`: a handler's argument as a part of its operation in the OpenAPI document.
//!
//! In: the arguments of a handler, each by its type. Out: an operation with their parameters and refusals. It must not know
//! single endpoints.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use utoipa::IntoParams;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{Ref, RefOr};

/// An argument of a handler. Without an own `describe`, clients see nothing of it.
pub trait Describe {
    fn describe(_: &mut Description<'_>) {}
}

/// An operation that its handler's arguments complete.
pub struct Description<'a> {
    pub operation: &'a mut Operation,
}

impl Description<'_> {
    /// Adds the parameters of `T`.
    pub fn parameters<T: IntoParams>(&mut self, place: ParameterIn) {
        let parameters = T::into_params(|| Some(place.clone()));
        if !parameters.is_empty() {
            self.operation.parameters.get_or_insert_default().extend(parameters.into_iter().map(RefOr::T));
        }
    }

    /// Adds the statuses that are not described yet.
    pub fn refusals(&mut self, statuses: &[&str]) {
        for status in statuses {
            let problem = RefOr::Ref(Ref::from_response_name("Problem"));
            self.operation.responses.responses.entry((*status).to_owned()).or_insert(problem);
        }
    }
}

impl<S> Describe for State<S> {}

impl Describe for HeaderMap {}

impl<T> Describe for Option<Extension<T>> {}
