/**
 * The commands that start, watch, change and end a cluster.
 */
package io.verbena.cli.admin;
