/**
 * The requests about tables, create, drop, find and list, each a task that the node polls until it has answered.
 */
package io.verbena.compute.control;
