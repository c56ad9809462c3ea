//! `Describe`: a handler's argument as a part of its operation in the OpenAPI document.
//!
//! In: the arguments of a handler, each by its type. Out: an operation with their parameters, body and
//! refusals, and the schemas that the body refers to. It must not know single endpoints.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::request_body::RequestBody;
use utoipa::openapi::{Content, Object, OneOf, Ref, RefOr, Required, Schema, Type};
use utoipa::{IntoParams, ToSchema};

/// An argument of a handler. Without a `describe` of its own, the document shows nothing of it.
pub trait Describe {
    /// Whether it reads the query. The query of an operation without such an argument must be empty.
    const READS_QUERY: bool = false;

    fn describe(_: &mut Description<'_>) {}
}

/// Schemas by name.
pub type Schemas = Vec<(String, RefOr<Schema>)>;

/// An operation that its handler's arguments complete.
pub struct Description<'a> {
    pub operation: &'a mut Operation,
    pub schemas: &'a mut Schemas,
}

impl Description<'_> {
    /// Adds the parameters of `T`.
    pub fn parameters<T: IntoParams>(&mut self, place: ParameterIn) {
        let parameters = T::into_params(|| Some(place.clone()));
        if !parameters.is_empty() {
            self.operation.parameters.get_or_insert_default().extend(parameters.into_iter().map(RefOr::T));
        }
    }

    /// Adds the JSON body `T` and its refusals. Where the empty object has its form, the body may be left out.
    pub fn body<T: ToSchema>(&mut self) {
        let reference = Ref::from_schema_name(&*T::name());
        let (schema, required) = match may_be_empty(&T::schema()) {
            true => (or_null(reference), None),
            false => (RefOr::Ref(reference), Some(Required::True)),
        };
        let body = RequestBody::builder().content("application/json", Content::new(Some(schema))).required(required);
        self.operation.request_body = Some(RefOr::T(body.build()));
        self.schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(self.schemas);
        self.refusals(&["408", "413", "415"]);
    }

    /// Adds the statuses that are not described yet.
    pub fn refusals(&mut self, statuses: &[&str]) {
        for status in statuses {
            let problem = RefOr::Ref(Ref::from_response_name("Problem"));
            self.operation.responses.responses.entry((*status).to_owned()).or_insert(problem);
        }
    }
}

fn may_be_empty(schema: &RefOr<Schema>) -> bool {
    match schema {
        RefOr::T(Schema::Object(object)) => object.required.is_empty() && object.min_properties.is_none(),
        _ => false,
    }
}

fn or_null(reference: Ref) -> RefOr<Schema> {
    OneOf::builder().item(reference).item(Object::with_type(Type::Null)).into()
}

impl<S> Describe for State<S> {}

impl Describe for HeaderMap {}

impl<T> Describe for Option<Extension<T>> {}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use utoipa::PartialSchema;

    use super::*;

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only described")]
    struct Filter {
        colour: Option<String>,
    }

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only described")]
    #[schema(min_properties = 1)]
    struct Change {
        colour: Option<String>,
    }

    #[derive(ToSchema)]
    #[expect(dead_code, reason = "only described")]
    struct Fruit {
        colour: String,
    }

    #[rstest]
    #[case::of_optional_fields(Filter::schema(), true)]
    #[case::of_at_least_one_field(Change::schema(), false)]
    #[case::with_a_required_field(Fruit::schema(), false)]
    fn a_body_may_be_left_out_where_the_empty_object_has_its_form(
        #[case] schema: RefOr<Schema>,
        #[case] may_be_left_out: bool,
    ) {
        assert_eq!(may_be_empty(&schema), may_be_left_out);
    }
}
