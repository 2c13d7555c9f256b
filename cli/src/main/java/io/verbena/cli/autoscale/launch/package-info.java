/**
 * How an autoscaler has compute nodes started and ended elsewhere: by commands. Knows nothing of demand and decisions,
 * and does not look at the cluster.
 */
package io.verbena.cli.autoscale.launch;
