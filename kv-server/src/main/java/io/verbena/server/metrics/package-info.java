/**
 * What the processes of a cluster tell Prometheus: the catalogue of their metrics, and the page on which they stand.
 * A page samples figures that are counted anyway; nothing here is on the path of a request.
 */
package io.verbena.server.metrics;
