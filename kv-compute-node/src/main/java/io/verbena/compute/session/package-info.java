/**
 * What the parts of one registration share: connections, engine, catalogue, and the numbers of requests that may be
 * repeated.
 */
package io.verbena.compute.session;
