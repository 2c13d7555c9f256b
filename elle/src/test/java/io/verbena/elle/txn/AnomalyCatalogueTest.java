package io.verbena.elle.txn;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.elle.Validity;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The smallest history of each anomaly that we could think of, and beside it a twin that differs in one place and is
 * well. See {@link TxnNotation}. Anomalies and the weakest models ruled out are
 * lists of words.
 */
class AnomalyCatalogueTest
{
    static Stream<Arguments> lists()
    {
        return Stream.of(listsOfDependencies(), listsOfAntiDependencies(), listsOfBrokenReads()).flatMap(part -> part);
    }

    private static Stream<Arguments> listsOfDependencies()
    {
        return Stream.of(
            bad("G0", "G0", "read-uncommitted",
                "ax1 ay1", "ax2 ay2", "rx12 ry21"),
            good("G0's twin",
                "ax1 ay1", "ax2 ay2", "rx12 ry12"),
            bad("G0 by an element that no read saw, and a read between", "G0 G-single", "read-uncommitted",
                "ax1 ay1", "ax2 ay2", "rx12", "ry2"),
            bad("G0-process", "G0-process", "strong-session-read-uncommitted",
                "p1 @0-1 ax1", "p1 @2-3 ax2", "rx21"),
            good("G0-process's twin",
                "p1 @0-1 ax1", "p1 @2-3 ax2", "rx12"),
            bad("G0-realtime", "G0-realtime", "strong-read-uncommitted",
                "@0-1 ax1", "@2-3 ax2", "@4-5 rx21"),
            good("G0-realtime's twin overlaps",
                "@0-2 ax1", "@1-3 ax2", "@4-5 rx21"),
            bad("G1a", "G1a", "read-committed",
                "fail ax1", "rx1"),
            good("G1a's twin of unknown outcome",
                "info ax1", "rx1"),
            bad("dirty update", "G1a dirty-update", "read-committed",
                "fail ax1", "ax2", "rx12"),
            good("dirty update's twin",
                "ax1", "ax2", "rx12"),
            bad("G1b", "G1b G-single", "read-committed",
                "ax1 ax2", "rx1", "rx12"),
            good("G1b's twin",
                "ax1 ax2", "rx", "rx12"),
            bad("G1c", "G1c", "read-committed",
                "ax1 ry1", "ay1 rx1"),
            good("G1c's twin",
                "ax1 ry1", "ay1 rx"),
            bad("G1c of three, with ww", "G1c", "read-committed",
                "ax1 ay1", "ax2 az1", "rz1 ay2", "ry21 rx12"),
            bad("G1c-process", "G1c-process", "strong-session-read-committed",
                "p1 @0-1 rx1", "p1 @2-3 ax1"),
            good("G1c-process's twin",
                "p1 @0-1 rx", "p1 @2-3 ax1"),
            bad("G1c-realtime", "G1c-realtime", "strong-read-committed",
                "@0-1 rx1", "@2-3 ax1"),
            good("G1c-realtime's twin overlaps",
                "@0-2 rx1", "@1-3 ax1"));
    }

    private static Stream<Arguments> listsOfAntiDependencies()
    {
        return Stream.of(
            bad("G-single", "G-single", "consistent-view parallel-snapshot-isolation repeatable-read",
                "ax1 ay1", "rx1 ry"),
            good("G-single's twin",
                "ax1 ay1", "rx1 ry1"),
            bad("G-single through ww", "G-single", "consistent-view parallel-snapshot-isolation repeatable-read",
                "rx az2", "ax1", "ax2 az1", "rx12 rz12"),
            bad("G-single-process", "G-single-process", "strong-session-snapshot-isolation",
                "p1 @0-1 ax1", "p1 @2-3 rx"),
            good("G-single-process's twin",
                "p1 @0-1 ax1", "p1 @2-3 rx1"),
            bad("G-single-realtime, a stale read", "G-single-realtime", "strong-snapshot-isolation",
                "@0-1 ax1", "@2-3 rx"),
            good("a stale read's twin overlaps",
                "@0-2 ax1", "@1-3 rx"),
            bad("a stale read after a transaction of three", "G-single-realtime", "strong-snapshot-isolation",
                "@0-1 ax1", "@2-3 ay1", "@4-5 rx", "@6-7 rx1 ry1"),
            bad("G-nonadjacent", "G-nonadjacent", "repeatable-read snapshot-isolation",
                "ax1", "rx1 ry", "ay1", "ry1 rx"),
            good("G-nonadjacent's twin",
                "ax1", "rx1 ry", "ay1", "ry1 rx1"),
            bad("G-nonadjacent-process", "G-nonadjacent-process", "strong-session-snapshot-isolation",
                "p1 @0-1 ax1", "p1 @2-9 ry", "p2 @0-9 ay1", "@0-9 ry1 rx"),
            bad("G-nonadjacent-realtime", "G-nonadjacent-realtime", "strong-snapshot-isolation",
                "@0-1 ax1", "@2-3 ry", "@0-9 ay1", "@0-9 ry1 rx"),
            bad("G2-item, write skew", "G2-item", "repeatable-read",
                "rx ay1", "ry ax1"),
            good("write skew's twin",
                "rx ay1", "ry1 ax1"),
            bad("G2-item-process", "G2-item-process", "strong-session-serializable",
                "p1 @0-1 ax1", "p1 @2-3 ry", "p2 @0-3 rx ay1"),
            bad("G2-item-realtime", "G2-item-realtime", "strict-serializable",
                "@0-1 ax1", "@2-3 ry", "@0-3 rx ay1"),
            good("G2-item-realtime's twin overlaps",
                "@0-2 ax1", "@1-3 ry", "@0-3 rx ay1"),
            bad("lost update", "lost-update G-single",
                "cursor-stability update-atomic",
                "rx ax1", "rx ax2", "rx12"),
            good("lost update's twin",
                "rx ax1", "rx1 ax2", "rx12"),
            bad("lost update whose elements no read saw", "lost-update G2-item",
                "cursor-stability update-atomic",
                "ax1", "rx1 ax2", "rx1 ax3"));
    }

    private static Stream<Arguments> listsOfBrokenReads()
    {
        return Stream.of(
            bad("internal: what was read is gone", "internal G-single", "consistent-view read-atomic repeatable-read",
                "ax1", "rx1 rx"),
            good("what was read is still there",
                "ax1", "rx1 rx1"),
            bad("internal: own append not seen", "internal", "read-atomic",
                "ax1 rx"),
            good("own append seen",
                "ax1 rx1", "rx1"),
            bad("internal: something between what was read and what was appended",
                "internal G-single", "consistent-view read-atomic repeatable-read", "ax2", "rx ax1 rx21", "rx21"),
            bad("future read", "future-read", "read-committed",
                "rx1 ax1"),
            bad("duplicate elements", "duplicate-elements", "read-uncommitted",
                "ax1", "rx11"),
            bad("garbage read", "garbage-read", "read-uncommitted",
                "ax1", "rx13"),
            bad("incompatible order", "incompatible-order", "read-committed",
                "ax1", "ax2", "rx12", "rx21"),
            bad("appends of one transaction turned around", "G1b incompatible-order", "read-committed",
                "ax1 ax2", "rx21"),
            bad("first append of a transaction lost", "G-single incompatible-order", "read-committed",
                "ax1 ax2", "rx2"),
            good("compatible reads",
                "ax1", "ax2", "rx1", "rx12"),
            good("a transaction of unknown outcome that did not happen",
                "p1 info ax1", "@5-6 rx", "@7-8 rx"),
            good("a transaction of unknown outcome that happened late",
                "p1 @0-1 info ax1", "@5-6 rx", "@7-8 rx1"),
            bad("a transaction of unknown outcome that happened and then not", "G-single-realtime",
                "strong-snapshot-isolation",
                "@0-1 info ax1", "@5-6 rx1", "@7-8 rx"));
    }

    static Stream<Arguments> registers()
    {
        return Stream.of(
            bad("G0", "G0 G-single", "read-uncommitted",
                "rx wx1 ry2 wy1", "rx1 wx2 ry wy2"),
            bad("G1a", "G1a", "read-committed",
                "fail wx1", "rx1"),
            good("G1a's twin",
                "wx1", "rx1"),
            bad("G1b", "G1b", "read-committed",
                "wx1 wx2", "rx1"),
            bad("G1c", "G1c", "read-committed",
                "wx1 ry1", "wy1 rx1"),
            good("G1c's twin",
                "wx1 ry1", "wy1 rx"),
            bad("G-single", "G-single", "consistent-view parallel-snapshot-isolation repeatable-read",
                "wx1 wy1", "rx1 ry"),
            good("G-single's twin",
                "wx1 wy1", "rx1 ry1"),
            bad("G-single-realtime", "G-single-realtime", "strong-snapshot-isolation",
                "@0-1 wx1", "@2-3 rx"),
            bad("G2-item", "G2-item", "repeatable-read",
                "rx wy1", "ry wx1"),
            bad("long fork", "G-nonadjacent", "repeatable-read snapshot-isolation",
                "wx1", "wy1", "rx1 ry", "rx ry1"),
            good("long fork's twin",
                "wx1", "wy1", "rx1 ry", "rx1 ry1"),
            bad("lost update", "lost-update G2-item",
                "cursor-stability update-atomic",
                "rx wx1", "rx wx2"),
            bad("internal", "internal", "read-atomic",
                "wx1 rx2", "wx2"),
            bad("future read", "future-read", "read-committed",
                "rx1 wx1"),
            bad("garbage read", "garbage-read", "read-uncommitted",
                "wx1", "rx2", "rx1"),
            bad("versions in a circle", "G1c cyclic-versions", "read-uncommitted",
                "rx2 wx1", "rx1 wx2"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("lists")
    void shouldFindAnomaliesOfLists(final String name, final Case expected)
    {
        verify(TxnWorkload.LIST_APPEND, expected);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("registers")
    void shouldFindAnomaliesOfRegisters(final String name, final Case expected)
    {
        verify(TxnWorkload.RW_REGISTER, expected);
    }

    private static void verify(final TxnWorkload workload, final Case expected)
    {
        final TxnVerdict verdict = TxnCheck.check(TxnNotation.history(workload, expected.lines), workload,
            ConsistencyModel.STRICT_SERIALIZABLE, TxnOptions.defaults());
        final Set<String> found = new TreeSet<>();
        verdict.counts().keySet().forEach(type -> found.add(type.word()));
        final Set<String> ruledOut = new TreeSet<>();
        verdict.ruledOut().forEach(model -> ruledOut.add(model.word()));
        assertThat(found).as("%s", verdict.anomalies()).isEqualTo(expected.anomalies);
        assertThat(ruledOut).isEqualTo(expected.ruledOut);
        assertThat(verdict.validity()).isEqualTo(found.isEmpty() ? Validity.VALID : Validity.INVALID);
    }

    private static Arguments bad(
        final String name, final String anomalies, final String ruledOut, final String... lines)
    {
        return Arguments.of(name, new Case(words(anomalies), words(ruledOut), lines));
    }

    private static Arguments good(final String name, final String... lines)
    {
        return Arguments.of(name, new Case(Set.of(), Set.of(), lines));
    }

    private static Set<String> words(final String list)
    {
        return new TreeSet<>(Arrays.asList(list.split(" ")));
    }

    private record Case(Set<String> anomalies, Set<String> ruledOut, String[] lines)
    {
        @Override
        public String toString()
        {
            return Arrays.toString(lines);
        }
    }
}
