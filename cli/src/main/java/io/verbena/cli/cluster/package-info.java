/**
 * A cluster as its commands see it: processes of this host with the folder that they live in, and the ways to reach
 * one, here or elsewhere. The commands themselves are in the packages above.
 */
package io.verbena.cli.cluster;
