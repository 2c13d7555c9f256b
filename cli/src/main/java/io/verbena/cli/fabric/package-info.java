/**
 * The commands on verbs devices: which there are, what they can, whether they keep the rules, how fast they are.
 */
package io.verbena.cli.fabric;
