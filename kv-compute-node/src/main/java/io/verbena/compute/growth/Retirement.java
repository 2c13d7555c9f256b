package io.verbena.compute.growth;

import io.verbena.table.directory.Subtable;

import java.util.List;
import java.util.function.IntToLongFunction;

/** Gives subtables back that no descriptor names, when nobody can look there any more. */
@FunctionalInterface
public interface Retirement
{
    /**
     * @param tableName   for messages.
     * @param subtables   of one memory node.
     * @param newestLease of a node, older than any by which somebody else can have their memory; 0 for unknown.
     */
    void retire(String tableName, List<Subtable> subtables, IntToLongFunction newestLease);
}
