/**
 * What the command {@code verbena check} does, without a command line: from files to reports. Must not know how
 * arguments are parsed or where output goes.
 */
package io.verbena.elle.command;
