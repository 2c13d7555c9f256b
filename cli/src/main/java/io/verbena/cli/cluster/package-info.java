/**
 * Commands that run the roles of a cluster, start and stop clusters of processes on this host, and use the tables of a
 * cluster. Must not know what nodes say to each other.
 */
package io.verbena.cli.cluster;
