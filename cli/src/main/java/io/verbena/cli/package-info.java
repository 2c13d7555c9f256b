/**
 * The {@code verbena} command: its subcommands, their options, exit statuses and one-line errors.
 * <p>
 * Owns what a user types and reads. Must not know how the store, the load or the checkers work: each subcommand turns
 * options into a call of another module and that module's answer into lines and an {@link io.verbena.cli.ExitStatus}.
 */
package io.verbena.cli;
