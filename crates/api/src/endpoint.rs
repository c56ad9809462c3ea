//! `endpoints!`: the handlers of `#[utoipa::path]` functions, as routes and as operations of the OpenAPI
//! document at once.
//!
//! A handler's requirement for its caller is read off its first argument, so a handler without a guard does
//! not compile. The other arguments describe the operation's parameters, its body and the refusals of these.

use std::sync::Arc;

use axum::Extension;
use axum::extract::Request;
use axum::handler::Handler;
use axum::response::Response;
use axum::routing::MethodRouter;
use futures_util::future::BoxFuture;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, Paths};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{HttpMethod, RefOr, Schema};
use utoipa_axum::PathItemExt;
use utoipa_axum::router::OpenApiRouter;

use super::query::NoQuery;
use super::{Access, ApiState, Describe, Description, Guard};

/// Names of the operation's extensions.
pub const ACCESS_ROLE: &str = "x-access-role";
pub const AUDITED: &str = "x-audited";
/// How a caller may show who it is.
pub const BEARER: &str = "token";
pub const LOGIN: &str = "login";

/// A handler's arguments, of which the first is a [`Guard`].
pub trait GuardedArgs {
    const ACCESS: Access;
    /// The descriptions of the others.
    const OTHERS: &'static [fn(&mut Description<'_>)];
    const READS_QUERY: bool;
}

macro_rules! guarded {
    ($($argument:ident)*) => {
        impl<Kind, G: Guard, $($argument: Describe),*> GuardedArgs for (Kind, G, $($argument,)*) {
            const ACCESS: Access = G::ACCESS;
            const OTHERS: &'static [fn(&mut Description<'_>)] = &[$($argument::describe),*];
            const READS_QUERY: bool = false $(|| $argument::READS_QUERY)*;
        }
    };
}

guarded! {}
guarded! { A }
guarded! { A B }
guarded! { A B C }
guarded! { A B C D }
guarded! { A B C D E }

/// A handler with its description, as `#[utoipa::path]` gives it.
pub struct Endpoint<H> {
    pub handler: H,
    /// The handler's path: `tasks :: list`.
    pub name: &'static str,
    pub path: String,
    pub methods: Vec<HttpMethod>,
    pub operation: Operation,
    pub schemas: Vec<(String, RefOr<Schema>)>,
}

/// Adds the routes of one handler, its operation completed by its arguments and by the common part of all
/// operations with this access.
pub fn add<H: Handler<T, ApiState>, T: GuardedArgs + 'static>(
    router: OpenApiRouter<ApiState>,
    endpoint: Endpoint<H>,
) -> OpenApiRouter<ApiState> {
    let Endpoint { handler, name, path, methods, mut operation, mut schemas } = endpoint;
    operation.operation_id = Some(name.replace(' ', "").replace("::", "_"));
    let mut description = Description { operation: &mut operation, schemas: &mut schemas };
    T::OTHERS.iter().for_each(|describe| describe(&mut description));
    complete(&mut description, T::ACCESS);
    let handler = erased(handler);
    let routes = methods
        .iter()
        .fold(MethodRouter::new(), |routes, method| routes.on(method.to_method_filter(), handler.clone()));
    let routes = if T::READS_QUERY { routes } else { routes.route_layer(Extension(NoQuery)) };
    let mut paths = Paths::new();
    paths.add_path_operation(path, methods, operation);
    router.routes((schemas, paths, routes))
}

/// Any handler, as one type. The types that axum puts around a handler differ by handler, and for each of them the compiler
/// checks that all that the handler waits for can be sent to another thread: half of the compile time of this crate.
#[derive(Clone)]
struct Erased(Arc<dyn Fn(Request, ApiState) -> BoxFuture<'static, Response> + Send + Sync>);

fn erased<H: Handler<T, ApiState>, T: 'static>(handler: H) -> Erased {
    Erased(Arc::new(move |request, state| Box::pin(handler.clone().call(request, state))))
}

impl Handler<(), ApiState> for Erased {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, state: ApiState) -> Self::Future {
        self.0(request, state)
    }
}

macro_rules! endpoints {
    ($($handler:path),+ $(,)?) => {{
        let router = utoipa_axum::router::OpenApiRouter::<$crate::ApiState>::default();
        $(let router = {
            let mut schemas = Vec::new();
            // the part of `routes!` that does not pass the handler to axum
            let (path, operation, methods) = utoipa_axum::routes!(@resolve_types $handler : schemas);
            let (handler, name) = ($handler, stringify!($handler));
            $crate::endpoint::add(router, $crate::endpoint::Endpoint { handler, name, path, methods, operation, schemas })
        };)+
        router
    }};
}

pub(super) use endpoints;

fn complete(description: &mut Description<'_>, access: Access) {
    let role = access.role.map_or("none", Into::into);
    let extensions = ExtensionsBuilder::new().add(ACCESS_ROLE, role).add(AUDITED, access.is_audited).build();
    description.operation.extensions.get_or_insert_default().merge(extensions);
    // of the request's head, which is looked at before its endpoint is asked
    description.refusals(&["400", "403", "414", "431"]);
    if access.role.is_some() {
        let either = [BEARER, LOGIN].map(|scheme| SecurityRequirement::new(scheme, Vec::<String>::new()));
        description.operation.security = Some(either.to_vec());
        // the caller's identity is read from the database
        description.refusals(&["401", "429", "500", "503"]);
    }
    if access.is_audited {
        // an `Idempotency-Key` of another request
        description.refusals(&["422"]);
    }
}
