//! The native interface: questions, reviews, tables, screenings, runs and their events, for programs. Described in `docs/api.md`.

mod ask;
mod events;
mod papers;
pub(crate) mod reply;
mod reviews;
mod runs;
mod sheets;
mod threads;
mod upkeep;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouterExt as _};
use utoipa_axum::routes;

use crate::context::SiteState;

pub(crate) use events::{EventStream, Told, last_event};

/// Every route with its description.
fn described() -> (Router<Arc<SiteState>>, OpenApi) {
    OpenApiRouter::new()
        .routes(routes!(ask::ask))
        .routes(routes!(ask::estimate))
        .routes(routes!(ask::offer))
        .routes(routes!(reviews::review, reviews::list))
        .routes(routes!(reviews::estimate))
        .routes(routes!(reviews::show))
        .routes(routes!(runs::list))
        .routes(routes!(runs::show))
        .routes(routes!(runs::events))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::export))
        .routes(routes!(threads::list))
        .routes(routes!(threads::feedback, threads::give_feedback))
        .routes(routes!(threads::share))
        .routes(routes!(threads::unshare))
        .routes(routes!(upkeep::verify))
        .routes(routes!(upkeep::replay))
        .routes(routes!(upkeep::explain))
        .routes(routes!(upkeep::compare))
        .routes(routes!(upkeep::status))
        .routes(routes!(papers::list))
        .routes(routes!(papers::show))
        .routes(routes!(papers::page))
        .routes(routes!(papers::drawing))
        .routes(routes!(papers::add).layer(DefaultBodyLimit::disable()))
        .routes(routes!(papers::addition))
        .routes(routes!(sheets::make_table, sheets::tables))
        .routes(routes!(sheets::table))
        .routes(routes!(sheets::export_table))
        .routes(routes!(sheets::screen, sheets::screenings))
        .routes(routes!(sheets::screening))
        .routes(routes!(sheets::decide))
        .routes(routes!(sheets::export_screening))
        .split_for_parts()
}

/// The routes.
pub(crate) fn router() -> Router<Arc<SiteState>> {
    described().0
}

/// What describes them.
pub(crate) fn document() -> OpenApi {
    described().1
}
