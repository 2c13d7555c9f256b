package io.verbena.elle.txn;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.elle.Validity;
import io.verbena.elle.history.History;
import io.verbena.elle.txn.generate.TxnFault;
import io.verbena.elle.txn.generate.TxnHistoryGenerator;
import io.verbena.elle.txn.isolation.ConsistencyModel;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** A simulated store whose faults are known: no bad history passes, and no good one fails at its level. */
class TxnFaultPropertyTest
{
    private static final int SEEDS = 150;

    /** What a store with only this fault still provides, beyond doubt. */
    private static final Map<TxnFault, ConsistencyModel> KEPT = Map.of(
        TxnFault.NONE, ConsistencyModel.STRICT_SERIALIZABLE,
        TxnFault.STALE_READ, ConsistencyModel.SERIALIZABLE,
        TxnFault.FRACTURED_READ, ConsistencyModel.STRONG_READ_COMMITTED,
        TxnFault.WRITE_SKEW, ConsistencyModel.STRONG_SNAPSHOT_ISOLATION,
        TxnFault.LOST_UPDATE, ConsistencyModel.STRONG_READ_COMMITTED,
        TxnFault.DIRTY_READ, ConsistencyModel.STRONG_READ_UNCOMMITTED,
        TxnFault.INTERMEDIATE_READ, ConsistencyModel.STRONG_READ_UNCOMMITTED);

    private static final Set<TxnFault> NOT_OF_REGISTERS = EnumSet.of(TxnFault.DUPLICATED_APPEND);

    @ParameterizedTest
    @EnumSource(TxnFault.class)
    void shouldJudgeHistoriesOfLists(final TxnFault fault)
    {
        judge(TxnWorkload.LIST_APPEND, fault, TxnOptions.defaults());
    }

    @ParameterizedTest
    @EnumSource(TxnFault.class)
    void shouldJudgeHistoriesOfRegisters(final TxnFault fault)
    {
        judge(TxnWorkload.RW_REGISTER, fault, TxnOptions.defaults());
    }

    @ParameterizedTest
    @EnumSource(value = TxnFault.class, names = {"NONE", "STALE_READ", "LOST_WRITE", "SPLIT_BRAIN"})
    void shouldJudgeHistoriesOfRegistersThatAreCalledLinearizable(final TxnFault fault)
    {
        final TxnOptions options = TxnOptions.defaults().assuming(true, true, true);
        for (int seed = 0; seed < SEEDS; seed++)
        {
            final TxnHistoryGenerator generator = generator(TxnWorkload.RW_REGISTER, fault, seed);
            final TxnVerdict verdict = TxnCheck.check(
                generator.generate(), TxnWorkload.RW_REGISTER, ConsistencyModel.STRICT_SERIALIZABLE, options);
            assertThat(verdict.validity()).as("seed %d: %s", seed, verdict)
                .isEqualTo(generator.faults() > 0 ? Validity.INVALID : Validity.VALID);
        }
    }

    private static void judge(final TxnWorkload workload, final TxnFault fault, final TxnOptions options)
    {
        int bad = 0;
        for (int seed = 0; seed < SEEDS; seed++)
        {
            final TxnHistoryGenerator generator = generator(workload, fault, seed);
            final History history = generator.generate();
            final TxnVerdict verdict = TxnCheck.check(history, workload, fault.violated(), options);
            final boolean isBad = generator.faults() > 0;
            bad += isBad ? 1 : 0;
            assertThat(verdict.validity()).as("seed %d faults %d: %s", seed, generator.faults(), verdict)
                .isEqualTo(isBad ? Validity.INVALID : Validity.VALID);
            final ConsistencyModel kept = KEPT.get(isBad ? fault : TxnFault.NONE);
            if (kept != null)
            {
                assertThat(verdict.rulesOut(kept)).as("seed %d, %s: %s", seed, kept, verdict.anomalies()).isFalse();
            }
        }
        final boolean canBeBad = fault != TxnFault.NONE &&
            !(workload == TxnWorkload.RW_REGISTER && NOT_OF_REGISTERS.contains(fault));
        assertThat(bad > 0).isEqualTo(canBeBad);
    }

    private static TxnHistoryGenerator generator(final TxnWorkload workload, final TxnFault fault, final long seed)
    {
        return new TxnHistoryGenerator(workload, seed)
            .transactions(20 + (int)seed).processes(2 + (int)seed % 9).keys(2 + (int)seed % 4, 12)
            .fault(fault, 10 + (int)seed);
    }
}
