package io.verbena.elle.txn;

import io.verbena.elle.txn.graph.DependencyGraph;
import io.verbena.elle.txn.graph.GraphBuilder;
import io.verbena.elle.txn.graph.IntList;
import io.verbena.elle.txn.isolation.EdgeKind;

import java.util.Arrays;

/**
 * Dependencies of rw-register. Who read whom is plain, since each value is written once; which version overwrote which
 * is known only as far as {@link VersionGraph} goes.
 */
final class RwRegisterAnalysis implements WorkloadAnalysis
{
    private final Transactions transactions;
    private final Footprint footprint;
    private final VersionGraph versions;
    private final Readers readers;

    RwRegisterAnalysis(final Transactions transactions, final TxnOptions options, final Findings findings)
    {
        this.transactions = transactions;
        footprint = Footprint.of(transactions);
        new RegisterReads(transactions, findings).run();
        LostUpdates.find(transactions, footprint, findings);
        versions = new VersionGraph(transactions, footprint, options, findings);
        readers = Readers.of(transactions, footprint::isExternalRead);
    }

    @Override
    public void addTo(final GraphBuilder graph)
    {
        for (int version = 0; version < transactions.versionCount(); version++)
        {
            if (transactions.mayExist(version))
            {
                addVersion(graph, version);
            }
        }
        for (int key = 0; key < transactions.keyCount(); key++)
        {
            graph.linkAll(readers.ofInitial(key), writersAfter(versions.initialOf(key)), EdgeKind.RW.bit());
        }
    }

    @Override
    public CycleStep explain(final int from, final int to, final EdgeKind kind)
    {
        for (int op = transactions.firstOp(to); op < transactions.firstOp(to + 1); op++)
        {
            for (int fromOp = transactions.firstOp(from); fromOp < transactions.firstOp(from + 1); fromOp++)
            {
                if (transactions.key(op) == transactions.key(fromOp))
                {
                    final String why = explain(from, fromOp, to, op, kind);
                    if (why != null)
                    {
                        return new CycleStep(from, to, kind, transactions.keyName(transactions.key(op)), why);
                    }
                }
            }
        }
        throw new IllegalStateException("no reason for " + kind + " from " + from + " to " + to);
    }

    private void addVersion(final GraphBuilder graph, final int version)
    {
        final int writer = transactions.writer(version);
        final int[] versionReaders = readers.ofVersion(version);
        for (final int reader : versionReaders)
        {
            graph.link(writer, reader, EdgeKind.WR.bit());
        }
        final int[] next = writersAfter(version);
        for (final int nextWriter : next)
        {
            graph.link(writer, nextWriter, EdgeKind.WW.bit());
        }
        graph.linkAll(versionReaders, next, EdgeKind.RW.bit());
    }

    private int[] writersAfter(final int version)
    {
        final DependencyGraph order = versions.graph();
        final IntList writers = new IntList();
        for (int e = order.firstEdge(version); e < order.firstEdge(version + 1); e++)
        {
            // Nothing is before an initial state, or the order would be a circle.
            writers.add(transactions.writer(order.target(e)));
        }
        return Arrays.stream(writers.toArray()).sorted().distinct().toArray();
    }

    private String explain(final int from, final int fromOp, final int to, final int toOp, final EdgeKind kind)
    {
        return switch (kind)
        {
            case WR -> explainRead(from, fromOp, to, toOp);
            case WW -> transactions.isWrite(fromOp) && transactions.isWrite(toOp) ?
                explainOrder(Words.txn(from) + " wrote key ", fromOp, to, toOp) : null;
            default -> footprint.isExternalRead(fromOp) && transactions.isWrite(toOp) ?
                explainOrder(Words.txn(from) + " read key ", fromOp, to, toOp) : null;
        };
    }

    private String explainRead(final int from, final int fromOp, final int to, final int toOp)
    {
        if (!transactions.isWrite(fromOp) || !footprint.isExternalRead(toOp) ||
            transactions.version(fromOp) != transactions.version(toOp))
        {
            return null;
        }
        return Words.txn(to) + " read key " + key(toOp) + " as " + Words.value(transactions.value(toOp)) +
            ", which " + Words.txn(from) + " wrote";
    }

    private String explainOrder(final String did, final int fromOp, final int to, final int toOp)
    {
        final int version = transactions.version(fromOp);
        final int node = version == Transactions.INITIAL ? versions.initialOf(transactions.key(fromOp)) : version;
        final VersionSource source = versions.sourceOf(node, transactions.version(toOp));
        if (source == null)
        {
            return null;
        }
        return did + key(fromOp) + " as " + Words.value(transactions.value(fromOp)) + ", and " + Words.txn(to) +
            " wrote it as " + Words.value(transactions.value(toOp)) + ", which comes later: " + source.reason();
    }

    private String key(final int op)
    {
        return Words.value(transactions.keyName(transactions.key(op)));
    }
}
