/**
 * Measurements of this module for the {@code verbena bench} commands: how fast the simulator is, and what it predicts
 * of real devices. Knows neither the command line nor files of results.
 */
package io.verbena.rdma.bench;
