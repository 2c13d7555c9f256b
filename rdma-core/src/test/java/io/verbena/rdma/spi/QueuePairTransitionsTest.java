package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.AccessFlags;
import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.QueuePairType;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;

import static io.verbena.rdma.verbs.QueuePairState.ERR;
import static io.verbena.rdma.verbs.QueuePairState.INIT;
import static io.verbena.rdma.verbs.QueuePairState.RESET;
import static io.verbena.rdma.verbs.QueuePairState.RTR;
import static io.verbena.rdma.verbs.QueuePairState.RTS;
import static io.verbena.rdma.verbs.QueuePairState.SQD;
import static io.verbena.rdma.verbs.QueuePairState.SQE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The table against the manual page's, and that each attribute missing, too many or out of range is named. */
class QueuePairTransitionsTest
{
    private static final int DEVICE_DEPTH = 16;

    private static QueuePairAttributes attributes(final int mask)
    {
        final QueuePairAttributes all = new QueuePairAttributes();
        if ((mask & QueuePairAttributes.ACCESS_FLAGS) != 0)
        {
            all.accessFlags(AccessFlags.REMOTE_READ);
        }
        if ((mask & QueuePairAttributes.ADDRESS_VECTOR) != 0)
        {
            all.destination(new DeviceAddress(1, 2));
        }
        if ((mask & QueuePairAttributes.PATH_MTU) != 0)
        {
            all.pathMtuBytes(1024);
        }
        return numbers(mask, all);
    }

    private static QueuePairAttributes numbers(final int mask, final QueuePairAttributes all)
    {
        final List<Runnable> setters = List.of(
            () -> all.pkeyIndex(0), () -> all.port(1), () -> all.qkey(7), () -> all.timeout(14),
            () -> all.retryCount(7), () -> all.rnrRetry(7), () -> all.rqPsn(5), () -> all.maxReadAtomic(4),
            () -> all.minRnrTimer(12), () -> all.sqPsn(6), () -> all.maxDestinationReadAtomic(4),
            () -> all.destinationNumber(9));
        final int[] bits = {
            QueuePairAttributes.PKEY_INDEX, QueuePairAttributes.PORT, QueuePairAttributes.QKEY,
            QueuePairAttributes.TIMEOUT, QueuePairAttributes.RETRY_COUNT, QueuePairAttributes.RNR_RETRY,
            QueuePairAttributes.RQ_PSN, QueuePairAttributes.MAX_READ_ATOMIC, QueuePairAttributes.MIN_RNR_TIMER,
            QueuePairAttributes.SQ_PSN, QueuePairAttributes.MAX_DESTINATION_READ_ATOMIC,
            QueuePairAttributes.DESTINATION_NUMBER };
        for (int i = 0; i < bits.length; i++)
        {
            if ((mask & bits[i]) != 0)
            {
                setters.get(i).run();
            }
        }
        return all;
    }

    private static List<String> required(final QueuePairType type, final QueuePairState from, final QueuePairState to)
    {
        return AttributeRanges.names(QueuePairTransitions.required(type, from, to)).stream().sorted().toList();
    }

    @Test
    void shouldRequireWhatTheManualPageListsOnTheWayUp()
    {
        assertThat(required(QueuePairType.RC, RESET, INIT)).containsExactly("ACCESS_FLAGS", "PKEY_INDEX", "PORT");
        assertThat(required(QueuePairType.RC, INIT, RTR)).containsExactly(
            "ADDRESS_VECTOR", "DESTINATION_NUMBER", "MAX_DESTINATION_READ_ATOMIC", "MIN_RNR_TIMER", "PATH_MTU",
            "RQ_PSN");
        assertThat(required(QueuePairType.RC, RTR, RTS)).containsExactly(
            "MAX_READ_ATOMIC", "RETRY_COUNT", "RNR_RETRY", "SQ_PSN", "TIMEOUT");
        assertThat(required(QueuePairType.UC, RESET, INIT)).containsExactly("ACCESS_FLAGS", "PKEY_INDEX", "PORT");
        assertThat(required(QueuePairType.UC, INIT, RTR)).containsExactly(
            "ADDRESS_VECTOR", "DESTINATION_NUMBER", "PATH_MTU", "RQ_PSN");
        assertThat(required(QueuePairType.UC, RTR, RTS)).containsExactly("SQ_PSN");
        assertThat(required(QueuePairType.UD, RESET, INIT)).containsExactly("PKEY_INDEX", "PORT", "QKEY");
        assertThat(required(QueuePairType.UD, INIT, RTR)).isEmpty();
        assertThat(required(QueuePairType.UD, RTR, RTS)).containsExactly("SQ_PSN");
        assertThat(required(QueuePairType.DC_INITIATOR, RESET, INIT)).containsExactly("PKEY_INDEX", "PORT");
        assertThat(required(QueuePairType.DC_INITIATOR, INIT, RTR)).containsExactly("PATH_MTU");
        assertThat(required(QueuePairType.DC_INITIATOR, RTR, RTS)).containsExactly(
            "MAX_READ_ATOMIC", "RETRY_COUNT", "RNR_RETRY", "SQ_PSN", "TIMEOUT");
    }

    @Test
    void shouldHaveExactlyTheTransitionsOfTheSpecification()
    {
        for (final QueuePairType type : QueuePairType.values())
        {
            final Set<String> expected = new TreeSet<>(Set.of(
                "RESET-RESET", "RESET-INIT", "INIT-RESET", "INIT-ERR", "INIT-INIT", "INIT-RTR", "RTR-RESET", "RTR-ERR",
                "RTR-RTS", "RTS-RESET", "RTS-ERR", "RTS-RTS", "SQD-RESET", "SQD-ERR", "SQE-RESET", "SQE-ERR",
                "ERR-RESET", "ERR-ERR"));
            if (type != QueuePairType.DC_INITIATOR)
            {
                expected.addAll(Set.of("RTS-SQD", "SQD-RTS", "SQD-SQD"));
            }
            if (type == QueuePairType.UC || type == QueuePairType.UD)
            {
                expected.add("SQE-RTS");
            }
            final Set<String> actual = new TreeSet<>();
            for (final QueuePairState from : QueuePairState.values())
            {
                for (final QueuePairState to : QueuePairState.values())
                {
                    if (QueuePairTransitions.required(type, from, to) != QueuePairTransitions.IMPOSSIBLE)
                    {
                        actual.add(from + "-" + to);
                    }
                }
            }
            assertThat(actual).as(type.toString()).isEqualTo(expected);
        }
    }

    @Test
    void shouldRefuseEachMissingAndEachSurplusAttributeByName()
    {
        final List<Integer> single = new ArrayList<>();
        for (int bit = 1; bit <= 20; bit++)
        {
            if (!AttributeRanges.names(1 << bit).get(0).startsWith("bit"))
            {
                single.add(1 << bit);
            }
        }
        assertThat(single).hasSize(15);
        int tried = 0;
        for (final QueuePairType type : QueuePairType.values())
        {
            for (final QueuePairState[] pair : new QueuePairState[][]{
                { RESET, INIT }, { INIT, RTR }, { RTR, RTS }, { RTS, SQD }, { SQD, SQD }, { RTS, ERR } })
            {
                final int required = QueuePairTransitions.required(type, pair[0], pair[1]);
                final int allowed = QueuePairTransitions.allowed(type, pair[0], pair[1]);
                if (required == QueuePairTransitions.IMPOSSIBLE)
                {
                    continue;
                }
                assertThatCode(() -> check(type, pair, required)).doesNotThrowAnyException();
                assertThatCode(() -> check(type, pair, allowed)).doesNotThrowAnyException();
                for (final int attribute : single)
                {
                    final String name = AttributeRanges.names(attribute).get(0);
                    if ((required & attribute) != 0)
                    {
                        assertThatThrownBy(() -> check(type, pair, required & ~attribute))
                            .isInstanceOf(RdmaException.class).hasMessageContaining("missing=[" + name + "]");
                        tried++;
                    }
                    if ((allowed & attribute) == 0)
                    {
                        assertThatThrownBy(() -> check(type, pair, required | attribute))
                            .isInstanceOf(RdmaException.class).hasMessageContaining("not allowed=[" + name + "]");
                        tried++;
                    }
                }
            }
        }
        assertThat(tried).isGreaterThan(200);
    }

    private static void check(final QueuePairType type, final QueuePairState[] pair, final int mask)
    {
        QueuePairTransitions.check(type, pair[0], attributes(mask).state(pair[1]), DEVICE_DEPTH);
    }

    @Test
    void shouldRefuseImpossibleTransitions()
    {
        for (final QueuePairType type : QueuePairType.values())
        {
            assertThatThrownBy(() -> check(type, new QueuePairState[]{ ERR, RTS }, 0))
                .isInstanceOf(RdmaException.class).hasMessageContaining("from ERR to RTS");
            assertThatThrownBy(() -> check(type, new QueuePairState[]{ RESET, RTS }, 0))
                .isInstanceOf(RdmaException.class);
            assertThatThrownBy(() -> check(type, new QueuePairState[]{ RTS, SQE }, 0))
                .isInstanceOf(RdmaException.class);
            assertThatThrownBy(() -> check(type, new QueuePairState[]{ RESET, ERR }, 0))
                .isInstanceOf(RdmaException.class);
        }
    }

    @Test
    void shouldRefuseValuesOutOfRange()
    {
        final int rtr = QueuePairTransitions.required(QueuePairType.RC, INIT, RTR);
        final int rts = QueuePairTransitions.required(QueuePairType.RC, RTR, RTS);
        final int init = QueuePairTransitions.required(QueuePairType.RC, RESET, INIT);
        assertRefused(INIT, attributes(rtr).state(RTR).pathMtuBytes(1500), "PATH_MTU");
        assertRefused(INIT, attributes(rtr).state(RTR).pathMtuBytes(128), "PATH_MTU");
        assertRefused(INIT, attributes(rtr).state(RTR).minRnrTimer(32), "MIN_RNR_TIMER");
        assertRefused(INIT, attributes(rtr).state(RTR).rqPsn(1 << 24), "RQ_PSN");
        assertRefused(INIT, attributes(rtr).state(RTR).destination(null), "ADDRESS_VECTOR");
        assertRefused(INIT, attributes(rtr).state(RTR).maxDestinationReadAtomic(DEVICE_DEPTH + 1),
            "MAX_DESTINATION_READ_ATOMIC");
        assertRefused(RTR, attributes(rts).state(RTS).timeout(32), "TIMEOUT");
        assertRefused(RTR, attributes(rts).state(RTS).retryCount(8), "RETRY_COUNT");
        assertRefused(RTR, attributes(rts).state(RTS).rnrRetry(-1), "RNR_RETRY");
        assertRefused(RTR, attributes(rts).state(RTS).maxReadAtomic(DEVICE_DEPTH + 1), "MAX_READ_ATOMIC");
        assertRefused(RESET, attributes(init).state(INIT).port(2), "PORT");
        assertRefused(RESET, attributes(init).state(INIT).accessFlags(1 << 20), "ACCESS_FLAGS");
    }

    private static void assertRefused(final QueuePairState from, final QueuePairAttributes wrong, final String name)
    {
        assertThatThrownBy(() -> QueuePairTransitions.check(QueuePairType.RC, from, wrong, DEVICE_DEPTH))
            .isInstanceOf(RdmaException.class).hasMessageContaining(name).hasMessageContaining("from " + from);
    }

    @Test
    void shouldSayWhatEachStateDoes()
    {
        assertThat(states(QueuePairStates::takesSends)).containsExactly(RTS, SQD, SQE, ERR);
        assertThat(states(QueuePairStates::takesReceives)).containsExactly(INIT, RTR, RTS, SQD, SQE, ERR);
        assertThat(states(QueuePairStates::servesInbound)).containsExactly(RTR, RTS, SQD, SQE);
        assertThat(states(QueuePairStates::flushesSends)).containsExactly(SQE, ERR);
    }

    private static List<QueuePairState> states(final Predicate<QueuePairState> rule)
    {
        return Arrays.stream(QueuePairState.values()).filter(rule).toList();
    }

    @Test
    void shouldTakeThePortInUseOnly()
    {
        final QueuePairAttributes second =
            new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(2);
        QueuePairTransitions.check(QueuePairType.DC_INITIATOR, QueuePairState.RESET, second, DEVICE_DEPTH, 2);
        assertThatThrownBy(() -> QueuePairTransitions.check(
            QueuePairType.DC_INITIATOR, QueuePairState.RESET, second, DEVICE_DEPTH, 1))
            .isInstanceOf(RdmaException.class).hasMessageContaining("PORT");
    }
}
