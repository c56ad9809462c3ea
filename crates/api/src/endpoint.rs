//! `endpoints!`: the handlers of `#[utoipa::path]` functions, as routes and as operations of the OpenAPI
//! document at once.
//!
//! A handler's requirement for its caller is read off its first argument, so a handler without a guard does
//! not compile. The other arguments describe the operation's parameters, its body and the refusals of these.

use axum::Extension;
use axum::handler::Handler;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

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

/// Adds the routes of one handler, its operation completed by its arguments and by the common part of all
/// operations with this access. `name` is the handler's path: `tasks :: list`.
pub fn add<H: Handler<T, ApiState>, T: GuardedArgs>(
    router: OpenApiRouter<ApiState>,
    (mut schemas, mut paths, methods): UtoipaMethodRouter<ApiState>,
    _: H,
    name: &str,
) -> OpenApiRouter<ApiState> {
    for operation in paths.paths.values_mut().flat_map(operations) {
        operation.operation_id = Some(name.replace(' ', "").replace("::", "_"));
        let mut description = Description { operation, schemas: &mut schemas };
        T::OTHERS.iter().for_each(|describe| describe(&mut description));
        complete(&mut description, T::ACCESS);
    }
    let methods = if T::READS_QUERY { methods } else { methods.route_layer(Extension(NoQuery)) };
    router.routes((schemas, paths, methods))
}

macro_rules! endpoints {
    ($($handler:path),+ $(,)?) => {{
        let router = utoipa_axum::router::OpenApiRouter::<$crate::ApiState>::default();
        $(let router =
            $crate::endpoint::add(router, utoipa_axum::routes!($handler), $handler, stringify!($handler));)+
        router
    }};
}

pub(super) use endpoints;

/// The operations of a path.
pub fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.delete].into_iter().flatten()
}

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
