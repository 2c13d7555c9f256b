/**
 * The run of a node that the AOT cache of later starts is made from.
 */
package io.verbena.cli.training;
