package io.verbena.elle.linear;

import io.verbena.elle.Validity;
import io.verbena.elle.history.History;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No bad history passes and no good one fails: histories of a store that works, and of the same store with a fault.
 */
class SimulatedStoreTest
{
    private static final int SEEDS = Integer.getInteger("verbena.elle.seeds", 100);
    private static final int OPERATIONS = 120;
    private static final LinearOptions OPTIONS = LinearOptions.defaults().withThreads(1);

    @ParameterizedTest
    @CsvSource({"REGISTER", "APPEND", "VERSIONED", "EVERYTHING"})
    void shouldPassEveryHistoryOfStoreThatWorks(final SimulatedStore.Workload workload)
    {
        for (long seed = 0; seed < SEEDS; seed++)
        {
            final History history = SimulatedStore.run(seed, SimulatedStore.Fault.NONE, workload, OPERATIONS);
            final LinearVerdict verdict = new LinearChecker<>(model(workload), OPTIONS).check(history);
            assertThat(verdict.validity()).as("seed %d: %s", seed, verdict.explanation()).isEqualTo(Validity.VALID);
            assertThat(CertainlyBad.isBad(history) && workload != SimulatedStore.Workload.EVERYTHING &&
                workload != SimulatedStore.Workload.VERSIONED).as("seed %d", seed).isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "STALE_READ, REGISTER", "LOST_UPDATE, REGISTER", "SPLIT_BRAIN, REGISTER", "DIRTY_READ, REGISTER",
        "STALE_READ, APPEND", "LOST_APPEND, APPEND", "DUPLICATED_APPEND, APPEND", "SPLIT_BRAIN, APPEND",
        "DIRTY_READ, APPEND"})
    void shouldRefuseEveryHistoryThatShowsFault(
        final SimulatedStore.Fault fault, final SimulatedStore.Workload workload)
    {
        int shown = 0;
        int found = 0;
        for (long seed = 0; seed < SEEDS; seed++)
        {
            final History history = SimulatedStore.run(seed, fault, workload, OPERATIONS);
            final boolean isBad = CertainlyBad.isBad(history);
            final LinearVerdict verdict = new LinearChecker<>(model(workload), OPTIONS).check(history);
            shown += isBad ? 1 : 0;
            found += verdict.validity() == Validity.INVALID ? 1 : 0;
            assertThat(verdict.validity()).as("seed %d", seed).isNotEqualTo(Validity.UNKNOWN);
            if (isBad)
            {
                assertThat(verdict.validity()).as("seed %d", seed).isEqualTo(Validity.INVALID);
            }
        }
        System.out.println(fault + " " + workload + ": of " + SEEDS + " histories " + shown +
            " certainly show it, " + found + " are refused");
        assertThat(shown).as("histories that show the fault").isGreaterThan(SEEDS / 4);
    }

    @Test
    void shouldGiveTheSameVerdictsWhenSeveralThreadsUseOneChecker() throws InterruptedException
    {
        final LinearChecker<?> checker = new LinearChecker<>(Models.versionedKvMap(), OPTIONS);
        final List<History> histories = new ArrayList<>();
        for (long seed = 0; seed < SEEDS; seed++)
        {
            histories.add(SimulatedStore.run(seed,
                seed % 2 == 0 ? SimulatedStore.Fault.NONE : SimulatedStore.Fault.STALE_READ,
                SimulatedStore.Workload.VERSIONED, OPERATIONS));
        }
        final List<String> alone = histories.stream().map(history -> verdict(checker, history)).toList();
        assertThat(alone).anyMatch(verdict -> verdict.startsWith("VALID"))
            .anyMatch(verdict -> verdict.startsWith("INVALID"));
        final Map<String, String> different = new ConcurrentHashMap<>();
        final List<Thread> threads = new ArrayList<>();
        for (int thread = 0; thread < 4; thread++)
        {
            final int first = thread * histories.size() / 4;
            threads.add(Thread.ofPlatform().start(() ->
            {
                for (int i = 0; i < histories.size(); i++)
                {
                    final int at = (first + i) % histories.size();
                    final String verdict = verdict(checker, histories.get(at));
                    if (!verdict.equals(alone.get(at)))
                    {
                        different.put("history " + at, verdict);
                    }
                }
            }));
        }
        for (final Thread thread : threads)
        {
            thread.join();
        }
        assertThat(different).isEmpty();
    }

    private static String verdict(final LinearChecker<?> checker, final History history)
    {
        final LinearVerdict verdict = checker.check(history);
        return verdict.validity() + " " + verdict.statesVisited() + " " + verdict.explanation();
    }

    private static Model<?> model(final SimulatedStore.Workload workload)
    {
        return workload == SimulatedStore.Workload.VERSIONED ? Models.versionedKvMap() : Models.kvMap();
    }
}
