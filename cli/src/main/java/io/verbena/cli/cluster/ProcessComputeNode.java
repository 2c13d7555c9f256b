package io.verbena.cli.cluster;

import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.embedded.ComputeNodeHandle;

import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A compute node in a process of its own on this host, as its health endpoint shows it. Stateless. */
public final class ProcessComputeNode implements ComputeNodeHandle
{
    private final Entry entry;
    private final long startedNs;

    /**
     * @param entry     of the process.
     * @param startedNs when somebody began to start it, by the clock that all processes of a host share.
     */
    public ProcessComputeNode(final Entry entry, final long startedNs)
    {
        this.entry = entry;
        this.startedNs = startedNs;
    }

    @Override
    public int nodeId()
    {
        return (int)number("node_id", 0);
    }

    @Override
    public int incarnation()
    {
        return (int)number("incarnation", 0);
    }

    @Override
    public boolean isServing()
    {
        final Map<String, Object> figures = HealthProbe.figures(entry);
        return null != figures && Boolean.TRUE.equals(figures.get("ready"));
    }

    @Override
    public long joinToReadyNs()
    {
        return sinceStart("ready_after_us");
    }

    @Override
    public long joinToFirstRequestNs()
    {
        return sinceStart("first_request_after_us");
    }

    @Override
    public String joinBreakdown()
    {
        final Map<String, Object> figures = HealthProbe.figures(entry);
        if (null == figures)
        {
            return "";
        }
        final String start = figures.get("main_ns") instanceof final Long mainNs ?
            "spawn_and_jvm=" + TimeUnit.NANOSECONDS.toMicros(mainNs - startedNs) + "us " +
                figures.get("start_breakdown") :
            "process=" + TimeUnit.NANOSECONDS.toMicros(began(figures) - startedNs) + "us";
        return start + ' ' + figures.get("join_breakdown");
    }

    @Override
    public long operationCount()
    {
        return number("operations", 0);
    }

    private long sinceStart(final String name)
    {
        final Map<String, Object> figures = HealthProbe.figures(entry);
        return null != figures && figures.get(name) instanceof final Long us && us >= 0 ?
            began(figures) - startedNs + TimeUnit.MICROSECONDS.toNanos(us) : -1;
    }

    private long began(final Map<String, Object> figures)
    {
        return figures.get("began_ns") instanceof final Long ns ? ns : startedNs;
    }

    private long number(final String name, final long otherwise)
    {
        final Map<String, Object> figures = HealthProbe.figures(entry);
        return null != figures && figures.get(name) instanceof final Long number ? number : otherwise;
    }

    @Override
    public String toString()
    {
        return "ProcessComputeNode{" + entry.name() + ", pid=" + entry.pid() + '}';
    }
}
