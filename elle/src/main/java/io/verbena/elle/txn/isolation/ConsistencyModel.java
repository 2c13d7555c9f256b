package io.verbena.elle.txn.isolation;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Models of transactional consistency, named as Elle names them, each with the next weaker models that it implies and
 * the anomalies that it forbids beyond theirs. Weaker models come first.
 *
 * <p>Sources, as far as definitions differ: Adya for PL-1 to PL-SS and the cycles; Cerone, Bernardi, Gotsman for the
 * models with atomic visibility, Bernardi, Gotsman (2016) for the cycles that parallel snapshot isolation forbids;
 * Bailis et al. for monotonic-atomic-view and lost update; Daudjee, Salem for sessions.
 * Serializable means conflict-serializable; snapshot isolation is the generalised one, which serializable implies.
 * Models that histories of items cannot distinguish from one of these have no entry of their own.
 */
public enum ConsistencyModel
{
    /** No cycles of writes; and each value read was written, so that there is an order of versions at all. */
    READ_UNCOMMITTED("read-uncommitted", "PL-1",
        List.of(),
        List.of(AnomalyType.G0, AnomalyType.DUPLICATE_ELEMENTS, AnomalyType.CYCLIC_VERSIONS,
            AnomalyType.GARBAGE_READ)),
    /** Read-uncommitted that keeps the order of each process. */
    STRONG_SESSION_READ_UNCOMMITTED("strong-session-read-uncommitted", "strong-session-PL-1",
        List.of(READ_UNCOMMITTED),
        List.of(AnomalyType.G0_PROCESS)),
    /** Read-uncommitted in real time. */
    STRONG_READ_UNCOMMITTED("strong-read-uncommitted", "strong-PL-1",
        List.of(STRONG_SESSION_READ_UNCOMMITTED),
        List.of(AnomalyType.G0_REALTIME)),
    /** No information from aborted or half done transactions, and none flows in circles. */
    READ_COMMITTED("read-committed", "PL-2",
        List.of(READ_UNCOMMITTED),
        List.of(AnomalyType.G1A, AnomalyType.G1B, AnomalyType.G1C)),
    /** Read-committed that keeps the order of each process. */
    STRONG_SESSION_READ_COMMITTED("strong-session-read-committed", "strong-session-PL-2",
        List.of(READ_COMMITTED, STRONG_SESSION_READ_UNCOMMITTED),
        List.of(AnomalyType.G1C_PROCESS)),
    /** Read-committed in real time. */
    STRONG_READ_COMMITTED("strong-read-committed", "strong-PL-2",
        List.of(STRONG_SESSION_READ_COMMITTED, STRONG_READ_UNCOMMITTED),
        List.of(AnomalyType.G1C_REALTIME)),
    /** Adya's PL-2L: what a transaction observes only grows while it runs. */
    MONOTONIC_VIEW("monotonic-view", "PL-2L", List.of(READ_COMMITTED), List.of()),
    /** Adya's PL-MSR: each read is of a snapshot, and later reads are of later ones. */
    MONOTONIC_SNAPSHOT_READ("monotonic-snapshot-read", "PL-MSR", List.of(READ_COMMITTED), List.of()),
    /** Read-committed without lost updates. */
    CURSOR_STABILITY("cursor-stability", "PL-CS", List.of(READ_COMMITTED), List.of(AnomalyType.LOST_UPDATE)),
    /** Bailis: once some effect of a transaction was seen, all of them are. */
    MONOTONIC_ATOMIC_VIEW("monotonic-atomic-view", null, List.of(READ_COMMITTED), List.of()),
    /** Cerone: all effects of a transaction become visible at once. */
    READ_ATOMIC("read-atomic", null,
        List.of(MONOTONIC_ATOMIC_VIEW),
        List.of(AnomalyType.INTERNAL, AnomalyType.FUTURE_READ)),
    /** Read-atomic without lost updates. */
    UPDATE_ATOMIC("update-atomic", null, List.of(READ_ATOMIC), List.of(AnomalyType.LOST_UPDATE)),
    /** Cerone: transactional causal consistency. */
    CAUSAL_CERONE("causal-cerone", null, List.of(READ_ATOMIC), List.of()),
    /** Cerone: each transaction sees a prefix of one order. */
    PREFIX("prefix", null, List.of(CAUSAL_CERONE), List.of()),
    /** Snapshot isolation in which sites may apply independent transactions in different orders. */
    PARALLEL_SNAPSHOT_ISOLATION("parallel-snapshot-isolation", null,
        List.of(CAUSAL_CERONE, UPDATE_ATOMIC),
        List.of(AnomalyType.G_SINGLE)),
    /** Adya's PL-2+: each transaction sees a consistent state. */
    CONSISTENT_VIEW("consistent-view", "PL-2+",
        List.of(CURSOR_STABILITY, MONOTONIC_VIEW),
        List.of(AnomalyType.G_SINGLE)),
    /** Adya's PL-FCV: consistent, but perhaps of after the transaction's begin. */
    FORWARD_CONSISTENT_VIEW("forward-consistent-view", "PL-FCV", List.of(CONSISTENT_VIEW), List.of()),
    /** Adya's PL-3U: the transactions that write are serializable. */
    UPDATE_SERIALIZABLE("update-serializable", "PL-3U", List.of(FORWARD_CONSISTENT_VIEW), List.of()),
    /** Adya's PL-2.99: serializable but for predicates. */
    REPEATABLE_READ("repeatable-read", "PL-2.99",
        List.of(CURSOR_STABILITY, MONOTONIC_ATOMIC_VIEW),
        List.of(AnomalyType.G2_ITEM, AnomalyType.LOST_UPDATE)),
    /** Reads of one snapshot (of any time), and of two concurrent writers of a key at most one commits. */
    SNAPSHOT_ISOLATION("snapshot-isolation", "PL-SI",
        List.of(FORWARD_CONSISTENT_VIEW, MONOTONIC_ATOMIC_VIEW, MONOTONIC_SNAPSHOT_READ, PARALLEL_SNAPSHOT_ISOLATION,
            PREFIX),
        List.of(AnomalyType.INTERNAL, AnomalyType.G_NONADJACENT)),
    /** Snapshot isolation in which processes see their own past. */
    STRONG_SESSION_SNAPSHOT_ISOLATION("strong-session-snapshot-isolation", null,
        List.of(SNAPSHOT_ISOLATION, STRONG_SESSION_READ_COMMITTED),
        List.of(AnomalyType.G_NONADJACENT_PROCESS)),
    /** Snapshot isolation in real time. */
    STRONG_SNAPSHOT_ISOLATION("strong-snapshot-isolation", null,
        List.of(STRONG_SESSION_SNAPSHOT_ISOLATION, STRONG_READ_COMMITTED),
        List.of(AnomalyType.G_NONADJACENT_REALTIME)),
    /** As if one after the other in some order (conflict-serializable). */
    SERIALIZABLE("serializable", "PL-3",
        List.of(REPEATABLE_READ, SNAPSHOT_ISOLATION, UPDATE_SERIALIZABLE),
        List.of(AnomalyType.INTERNAL, AnomalyType.G2_ITEM)),
    /** Serializable in an order that keeps that of each process. */
    STRONG_SESSION_SERIALIZABLE("strong-session-serializable", null,
        List.of(SERIALIZABLE, STRONG_SESSION_SNAPSHOT_ISOLATION),
        List.of(AnomalyType.G2_ITEM_PROCESS)),
    /** Serializable in an order that agrees with real time. */
    STRICT_SERIALIZABLE("strict-serializable", "PL-SS",
        List.of(STRONG_SESSION_SERIALIZABLE, STRONG_SNAPSHOT_ISOLATION),
        List.of(AnomalyType.G2_ITEM_REALTIME));

    private final String word;
    private final String canonicalName;
    private final List<ConsistencyModel> weaker;
    private final List<AnomalyType> forbidden;

    ConsistencyModel(
        final String word,
        final String canonicalName,
        final List<ConsistencyModel> weaker,
        final List<AnomalyType> forbidden)
    {
        this.word = word;
        this.canonicalName = canonicalName;
        this.weaker = weaker;
        this.forbidden = forbidden;
    }

    /**
     * The name in reports and on the command line.
     *
     * @return Elle's friendly name.
     */
    public String word()
    {
        return word;
    }

    /**
     * The next weaker models.
     *
     * @return those that this one implies directly; {@link ModelLattice#impliedBy} has all.
     */
    public List<ConsistencyModel> weaker()
    {
        return weaker;
    }

    /**
     * The anomalies that this model forbids and the weaker ones allow.
     *
     * @return also all cases of these are forbidden.
     */
    public List<AnomalyType> forbidden()
    {
        return forbidden;
    }

    /**
     * Finds a model by its name.
     *
     * @param name as {@link #word()} gives it, Adya's name (such as {@code PL-2.99}), {@code strong-serializable} or
     *             {@code conflict-serializable}.
     * @return the model.
     * @throws IllegalArgumentException if there is none; names those that exist.
     */
    public static ConsistencyModel ofWord(final String name)
    {
        switch (name)
        {
            case "strong-serializable":
                return STRICT_SERIALIZABLE;
            case "conflict-serializable":
                return SERIALIZABLE;
            default:
                break;
        }
        for (final ConsistencyModel model : values())
        {
            if (model.word.equals(name) || name.equals(model.canonicalName))
            {
                return model;
            }
        }
        throw new IllegalArgumentException("unknown consistency model '" + name + "': must be one of " +
            Arrays.stream(values()).map(ConsistencyModel::word).collect(Collectors.joining(", ")));
    }

    @Override
    public String toString()
    {
        return word;
    }
}
