package io.verbena.elle.txn.isolation;

import java.util.List;

/**
 * Things that are found in histories and that some consistency model forbids, from the subtlest to the crudest.
 *
 * <p>All dependencies here are of items, never of predicates: what newer versions of Elle call {@code G-single-item} is
 * {@code G-single} here, and so on.
 */
public enum AnomalyType
{
    /** G2-item that needs real time. */
    G2_ITEM_REALTIME("G2-item-realtime", "write skew against real time"),
    /** G-nonadjacent that needs real time. */
    G_NONADJACENT_REALTIME(
        "G-nonadjacent-realtime",
        "several anti-dependencies, no two in a row, against real time",
        G2_ITEM_REALTIME),
    /** G-single that needs real time. */
    G_SINGLE_REALTIME(
        "G-single-realtime",
        "stale read: a transaction missed one that was over before it began",
        G_NONADJACENT_REALTIME),
    /** G1c that needs real time. */
    G1C_REALTIME("G1c-realtime", "circular information flow against real time"),
    /** G0 that needs real time. */
    G0_REALTIME("G0-realtime", "write cycle against real time", G1C_REALTIME),
    /** G2-item that needs the order within a process. */
    G2_ITEM_PROCESS("G2-item-process", "write skew against the order of a process", G2_ITEM_REALTIME),
    /** G-nonadjacent that needs the order within a process. */
    G_NONADJACENT_PROCESS(
        "G-nonadjacent-process",
        "several anti-dependencies, no two in a row, against the order of a process",
        G2_ITEM_PROCESS,
        G_NONADJACENT_REALTIME),
    /** G-single that needs the order within a process. */
    G_SINGLE_PROCESS(
        "G-single-process",
        "stale read: a process missed something of its own past",
        G_NONADJACENT_PROCESS,
        G_SINGLE_REALTIME),
    /** G1c that needs the order within a process. */
    G1C_PROCESS("G1c-process", "circular information flow against the order of a process", G1C_REALTIME),
    /** G0 that needs the order within a process. */
    G0_PROCESS("G0-process", "write cycle against the order of a process", G1C_PROCESS, G0_REALTIME),
    /** A cycle with several rw. */
    G2_ITEM("G2-item", "write skew: a cycle with two anti-dependencies in a row", G2_ITEM_PROCESS),
    /** A cycle with several rw, no two in a row. */
    G_NONADJACENT(
        "G-nonadjacent",
        "a cycle with several anti-dependencies, no two of them in a row",
        G2_ITEM,
        G_NONADJACENT_PROCESS),
    /** A cycle with exactly one rw. */
    G_SINGLE("G-single", "read skew: a cycle with exactly one anti-dependency", G_NONADJACENT, G_SINGLE_PROCESS),
    /** Two transactions read the same version of a key and both wrote the key. */
    LOST_UPDATE("lost-update", "several transactions updated the same version of a key", G2_ITEM),
    /** A cycle of ww and wr. */
    G1C("G1c", "circular information flow: transactions saw each other's writes in a circle", G1C_PROCESS),
    /** A cycle of ww. */
    G0("G0", "write cycle: the writes of transactions interleave", G1C, G0_PROCESS),
    /** A transaction read what it wrote only later: a circle of one. */
    FUTURE_READ("future-read", "a transaction read a value before it wrote it", G1C),
    /** A transaction disagrees with its own earlier reads and writes. */
    INTERNAL("internal", "a transaction does not see its own earlier reads or writes"),
    /** A transaction read what another overwrote before its end. */
    G1B("G1b", "intermediate read: a value was read that its transaction later replaced"),
    /** A committed transaction read what an aborted one wrote. */
    G1A("G1a", "aborted read: a value was read though its transaction failed"),
    /** A committed version was made out of an aborted one. */
    DIRTY_UPDATE("dirty-update", "a committed write builds upon an aborted one", G1A),
    /** Two reads of a list, or a read and the transaction that appended, disagree: some write did not last. */
    INCOMPATIBLE_ORDER("incompatible-order", "there is disagreement on the order of a list's elements", G1A),
    /** Inferences from several sources put the versions of one key in a circle. */
    CYCLIC_VERSIONS("cyclic-versions", "the versions of a key follow each other in a circle"),
    /** A list was read that holds one element twice. */
    DUPLICATE_ELEMENTS("duplicate-elements", "an element stands twice in a list though it was appended once"),
    /** A value was read that no transaction wrote. */
    GARBAGE_READ("garbage-read", "a value was read that nobody wrote");

    private final String word;
    private final String meaning;
    private final List<AnomalyType> caseOf;

    AnomalyType(final String word, final String meaning, final AnomalyType... caseOf)
    {
        this.word = word;
        this.meaning = meaning;
        this.caseOf = List.of(caseOf);
    }

    /**
     * The name in reports.
     *
     * @return as Elle spells it.
     */
    public String word()
    {
        return word;
    }

    /**
     * What it is, in a few words for people.
     *
     * @return a phrase without full stop.
     */
    public String meaning()
    {
        return meaning;
    }

    /**
     * The more general anomalies of which this is a case.
     *
     * @return the next in generality; {@link ModelLattice#closure} has all.
     */
    public List<AnomalyType> caseOf()
    {
        return caseOf;
    }

    @Override
    public String toString()
    {
        return word;
    }
}
