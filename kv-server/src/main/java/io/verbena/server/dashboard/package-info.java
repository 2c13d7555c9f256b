/**
 * The dashboard of a cluster: a page for browsers and the JSON that it polls. What the JSON says comes from a
 * {@link io.verbena.server.dashboard.DashboardSource}; nothing here knows how a cluster is found or asked.
 */
package io.verbena.server.dashboard;
