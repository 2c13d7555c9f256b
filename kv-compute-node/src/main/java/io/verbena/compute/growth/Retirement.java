package io.verbena.compute.growth;

import io.verbena.compute.group.KnownLeases;
import io.verbena.table.directory.Subtable;

import java.util.List;

/** Gives subtables back that no descriptor names, when nobody can look there any more. */
@FunctionalInterface
public interface Retirement
{
    /**
     * @param tableName for messages.
     * @param subtables of one memory node, or group.
     * @param known     leases from before somebody else can have their memory.
     */
    void retire(String tableName, List<Subtable> subtables, KnownLeases known);
}
