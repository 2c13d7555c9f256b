package io.verbena.elle.txn;

import io.verbena.elle.Validity;
import io.verbena.elle.history.History;
import io.verbena.elle.history.Operation;
import io.verbena.elle.txn.graph.DependencyGraph;
import io.verbena.elle.txn.graph.GraphBuilder;
import io.verbena.elle.txn.graph.RawCycle;
import io.verbena.elle.txn.graph.StrongComponents;
import io.verbena.elle.txn.isolation.AnomalyType;
import io.verbena.elle.txn.isolation.ConsistencyModel;
import io.verbena.elle.txn.isolation.EdgeKind;
import io.verbena.elle.txn.isolation.ModelLattice;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The checker of transactions. Stateless; a check runs on the calling thread.
 */
public final class TxnCheck
{
    private final History history;
    private final TxnWorkload workload;
    private final ConsistencyModel expected;
    private final TxnOptions options;
    private final Findings findings;
    private final Set<ConsistencyModel> impossible = EnumSet.noneOf(ConsistencyModel.class);
    private final Set<AnomalyType> unsearched = EnumSet.noneOf(AnomalyType.class);
    private final List<String> unknownReasons = new ArrayList<>();
    private final BooleanSupplier stop;
    private boolean isStopped;

    private TxnCheck(
        final History history, final TxnWorkload workload, final ConsistencyModel expected, final TxnOptions options)
    {
        this.history = history;
        this.workload = workload;
        this.expected = expected;
        this.options = options.stoppedBy(this::hasBeenStopped);
        stop = options.stop();
        findings = new Findings(options.maxExamples());
    }

    /**
     * Checks a history.
     *
     * @param history  transactions; values are lists of {@code [f key value]}, where f is a keyword or a string.
     * @param workload what the transactions do.
     * @param expected the model that the history should satisfy.
     * @param options  assumptions and bounds.
     * @return the verdict.
     * @throws io.verbena.elle.history.HistoryException if a transaction is not of the workload, or a value was written
     *                                                  twice to one key; names the line.
     */
    public static TxnVerdict check(
        final History history, final TxnWorkload workload, final ConsistencyModel expected, final TxnOptions options)
    {
        return new TxnCheck(history, workload, expected, options).run();
    }

    private TxnVerdict run()
    {
        final Transactions transactions = TransactionsReader.read(history, workload);
        final WorkloadAnalysis analysis = switch (workload)
        {
            case LIST_APPEND -> new ListAppendAnalysis(transactions, findings);
            case RW_REGISTER -> new RwRegisterAnalysis(transactions, options, findings);
        };
        final GraphBuilder builder = new GraphBuilder(transactions.count());
        analysis.addTo(builder);
        final boolean hasData = !builder.isEmpty();
        OrderEdges.addTo(builder, history);
        final DependencyGraph graph = builder.build();
        final int[][] components = StrongComponents.of(graph, ~0).cyclic();
        searchCycles(graph, components, analysis);
        impossible.addAll(ModelLattice.ruledOutBy(findings.counts().keySet()));
        final Set<ConsistencyModel> ruledOut = ModelLattice.withStronger(impossible);
        final Set<ConsistencyModel> weakest = ModelLattice.weakest(ruledOut);
        final Set<ConsistencyModel> stronger = EnumSet.copyOf(ruledOut);
        stronger.removeAll(weakest);
        final Validity validity = validity(ruledOut, hasData);
        final Map<AnomalyType, Integer> counts = new EnumMap<>(AnomalyType.class);
        counts.putAll(findings.counts());
        return new TxnVerdict(history, workload, expected, validity, findings.examples(), counts, weakest, stronger,
            ModelLattice.strongestWithout(ruledOut), List.copyOf(unknownReasons),
            statistics(transactions, graph, components));
    }

    private void searchCycles(final DependencyGraph graph, final int[][] components, final WorkloadAnalysis analysis)
    {
        final int[] scratch = new int[graph.nodeCount()];
        Arrays.fill(scratch, -1);
        for (final int[] nodes : components)
        {
            if (hasBeenStopped())
            {
                return;
            }
            final CycleFinder finder = new CycleFinder(graph.part(nodes, scratch), options).run();
            impossible.addAll(finder.impossible());
            unsearched.addAll(finder.unsearched());
            for (final RawCycle cycle : finder.cycles())
            {
                findings.add(cycle.type(), () -> inWords(cycle, analysis));
            }
        }
    }

    /** Whoever asks skips a part of the search when the answer is true, so it stays true and counts for the verdict. */
    private boolean hasBeenStopped()
    {
        isStopped |= stop.getAsBoolean();
        return isStopped;
    }

    private Anomaly inWords(final RawCycle cycle, final WorkloadAnalysis analysis)
    {
        final List<CycleStep> steps = new ArrayList<>();
        for (int i = 0; i < cycle.nodes().size(); i++)
        {
            final int from = cycle.nodes().get(i);
            final int to = cycle.nodes().get((i + 1) % cycle.nodes().size());
            steps.add(switch (cycle.kinds().get(i))
            {
                case PROCESS -> new CycleStep(from, to, EdgeKind.PROCESS, null, "process " +
                    history.operations().get(to).process() + " called " + Words.txn(to) + " after its " +
                    Words.txn(from) + " was over");
                case REALTIME -> new CycleStep(from, to, EdgeKind.REALTIME, null, Words.txn(from) +
                    " was over before " + Words.txn(to) + " was called");
                default -> analysis.explain(from, to, cycle.kinds().get(i));
            });
        }
        return Anomaly.ofCycle(cycle.type(), steps);
    }

    private Validity validity(final Set<ConsistencyModel> ruledOut, final boolean hasData)
    {
        if (!unsearched.isEmpty() && !isStopped)
        {
            unknownReasons.add("the search for examples of " + unsearched + " ended after " +
                options.maxSearchSteps() + " steps: models are ruled out by the existence of cycles alone");
        }
        if (isStopped)
        {
            unknownReasons.add("the check was stopped before it had looked at all cycles");
        }
        if (!hasData && findings.counts().isEmpty())
        {
            unknownReasons.add("no transaction depends on any other, so the history shows nothing");
        }
        if (ruledOut.contains(expected))
        {
            return Validity.INVALID;
        }
        // All other cycles are decided by their existence.
        final boolean missesReadSkew = unsearched.contains(AnomalyType.G_SINGLE) &&
            ModelLattice.ruledOutBy(EnumSet.of(AnomalyType.G_SINGLE)).contains(expected);
        return isStopped || missesReadSkew || !hasData ? Validity.UNKNOWN : Validity.VALID;
    }

    private static TxnStatistics statistics(
        final Transactions transactions, final DependencyGraph graph, final int[][] components)
    {
        int committed = 0;
        int unknown = 0;
        for (int txn = 0; txn < transactions.count(); txn++)
        {
            final Operation operation = transactions.operation(txn);
            committed += operation.isOk() ? 1 : 0;
            unknown += operation.isInfo() ? 1 : 0;
        }
        int largest = 0;
        for (final int[] nodes : components)
        {
            largest = Math.max(largest,
                (int)Arrays.stream(nodes).filter(node -> !graph.isJunction(node)).count());
        }
        return new TxnStatistics(transactions.count(), committed, unknown, transactions.keyCount(),
            graph.edgeCount(), components.length, largest);
    }
}
