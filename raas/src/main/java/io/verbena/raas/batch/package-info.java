/** Requests on their way from being staged to being posted: batches, and the pool that lends them. */
package io.verbena.raas.batch;
