package io.verbena.elle.linear;

import io.verbena.elle.bench.RegisterHistoryGenerator;
import io.verbena.elle.check.Elle;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.history.HistoryException;
import io.verbena.elle.history.HistoryReader;
import io.verbena.elle.Validity;
import org.junit.jupiter.api.Test;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class LinearCheckerTest
{
    @Test
    void shouldAcceptReadOfConcurrentWrite()
    {
        final History history = new HistoryBuilder()
            .invoke(0, "write", null, 1L)
            .invoke(1, "read", null, null)
            .ok(1, 1L)
            .invoke(1, "read", null, null)
            .ok(1, 1L)
            .ok(0, null)
            .build();

        assertThatCode(() -> Elle.assertLinearizable(history, Models.register())).doesNotThrowAnyException();
    }

    @Test
    void shouldRefuseStaleReadAndSayWhy()
    {
        final History history = new HistoryBuilder()
            .invoke(0, "write", null, 1L).ok(0, null)
            .invoke(0, "write", null, 2L).ok(0, null)
            .invoke(2, "read", null, null).ok(2, 2L)
            .invoke(1, "read", null, null).ok(1, 1L)
            .build();

        final LinearVerdict verdict = Elle.checkLinearizable(history, Models.register());

        assertThat(verdict.validity()).isEqualTo(Validity.INVALID);
        final PartVerdict part = verdict.failures().getFirst();
        final Failure failure = part.failure();
        assertThat(part.linearization()).containsExactly(0, 1, 2);
        assertThat(failure.breaking().id()).isEqualTo(3);
        assertThat(failure.prefixEvents()).isEqualTo(7);
        assertThat(failure.core()).extracting(operation -> operation.id()).containsExactly(0, 2, 3);
        assertThat(failure.coreIsMinimal()).isTrue();
        assertThatThrownBy(() -> Elle.assertLinearizable(history, Models.register()))
            .isInstanceOf(AssertionError.class)
            .hasMessageContaining("NOT linearizable")
            .hasMessageContaining("process 1: read -> 1  [events 6-7]")
            .hasMessageContaining("cannot answer so in state 2");
    }

    @Test
    void shouldLetUnknownWriteHappenAtAnyLaterTimeOrNever()
    {
        final History history = new HistoryBuilder()
            .invoke(0, "write", null, 1L).ok(0, null)
            .invoke(1, "write", null, 2L).complete(1, EventType.INFO, null)
            .invoke(0, "read", null, null).ok(0, 1L)
            .invoke(0, "read", null, null).ok(0, 2L)
            .invoke(2, "write", null, 3L)
            .build();

        assertThat(Elle.checkLinearizable(history, Models.register()).validity()).isEqualTo(Validity.VALID);
    }

    @Test
    void shouldRefuseUnknownWriteThatHappensTwice()
    {
        final History history = new HistoryBuilder()
            .invoke(1, "write", null, 2L).complete(1, EventType.INFO, null)
            .invoke(0, "read", null, null).ok(0, 2L)
            .invoke(0, "write", null, 3L).ok(0, null)
            .invoke(0, "read", null, null).ok(0, 2L)
            .build();

        assertThat(Elle.checkLinearizable(history, Models.register()).validity()).isEqualTo(Validity.INVALID);
    }

    @Test
    void shouldRefuseReadOfFailedWrite()
    {
        final History history = new HistoryBuilder()
            .invoke(0, "write", null, 1L).complete(0, EventType.FAIL, null)
            .invoke(0, "read", null, null).ok(0, 1L)
            .build();

        assertThat(Elle.checkLinearizable(history, Models.register()).validity()).isEqualTo(Validity.INVALID);
    }

    @Test
    void shouldCheckEachKeyAloneAndNameTheBadOne()
    {
        final History history = new HistoryBuilder()
            .invoke(0, "put", "a", 1L).invoke(1, "put", "b", 2L).ok(0, null).ok(1, null)
            .invoke(0, "get", "a", null).ok(0, 1L)
            .invoke(0, "get", "b", null).ok(0, 1L)
            .build();

        final LinearVerdict verdict = Elle.checkLinearizable(history, Models.kvMap());

        assertThat(verdict.parts()).hasSize(2);
        assertThat(verdict.failures()).extracting(PartVerdict::object).isEqualTo(List.of("b"));
        assertThat(verdict.explanation()).contains("Object \"b\"");
    }

    @Test
    void shouldSayUnknownWhenBoundOfMemoryIsHit()
    {
        final History history = new RegisterHistoryGenerator(7, 1, 12).generate(400);

        final LinearVerdict verdict = Elle.checkLinearizable(
            history, Models.register(), LinearOptions.defaults().withMaxStates(10));

        assertThat(verdict.validity()).isEqualTo(Validity.UNKNOWN);
        assertThat(verdict.explanation()).contains("bound on remembered states");
    }

    @Test
    void shouldSayUnknownWhenTimeIsUp()
    {
        final History history = new RegisterHistoryGenerator(7, 1, 12).generate(20_000);
        final long[] nowNs = new long[1];
        final LinearOptions options = new LinearOptions(5, 1 << 20, 1, () -> nowNs[0] += 2);

        final LinearVerdict verdict = Elle.checkLinearizable(history, Models.register(), options);

        assertThat(verdict.validity()).isEqualTo(Validity.UNKNOWN);
        assertThat(verdict.explanation()).contains("time was up");
    }

    @Test
    void shouldNeverDecideOtherwiseWithinAnyBound()
    {
        final History good = new RegisterHistoryGenerator(7, 1, 12).generate(400);
        final History bad = new RegisterHistoryGenerator(7, 1, 12).badAtEnd().generate(400);
        final Set<Validity> ofGood = EnumSet.noneOf(Validity.class);
        final Set<Validity> ofBad = EnumSet.noneOf(Validity.class);
        for (long states = 1; states < 1 << 20; states *= 2)
        {
            final LinearOptions options = LinearOptions.defaults().withMaxStates(states).withThreads(1);
            ofGood.add(Elle.checkLinearizable(good, Models.register(), options).validity());
            ofBad.add(Elle.checkLinearizable(bad, Models.register(), options).validity());
        }
        assertThat(ofGood).containsExactlyInAnyOrder(Validity.VALID, Validity.UNKNOWN);
        assertThat(ofBad).containsExactlyInAnyOrder(Validity.INVALID, Validity.UNKNOWN);
    }

    @Test
    void shouldNotKnowOfAHistoryInWhichNothingSucceeded()
    {
        for (final History history : List.of(
            new HistoryBuilder().build(),
            new HistoryBuilder().invoke(0, "write", null, 1L).complete(0, EventType.FAIL, 1L).build(),
            new HistoryBuilder().invoke(0, "write", null, 1L).complete(0, EventType.INFO, 1L)
                .invoke(1, "read", null, null).build()))
        {
            final LinearVerdict verdict = Elle.checkLinearizable(history, Models.register());
            assertThat(verdict.validity()).isEqualTo(Validity.UNKNOWN);
            assertThat(verdict.unknownReasons()).singleElement().asString().contains("no operation succeeded");
            assertThat(verdict.explanation()).contains("no operation succeeded").doesNotContain("bound");
            assertThatThrownBy(() -> Elle.assertLinearizable(history, Models.register()))
                .isInstanceOf(AssertionError.class).hasMessageContaining("no operation succeeded");
        }
    }

    @Test
    void shouldNameLineOfUnknownFunction()
    {
        final History history = new HistoryBuilder().invoke(0, "wirte", null, 1L).ok(0, null).build();

        assertThatThrownBy(() -> Elle.checkLinearizable(history, Models.register()))
            .isInstanceOf(HistoryException.class)
            .hasMessageContaining("no function wirte")
            .hasMessageContaining("read, write");
    }

    @Test
    void shouldNameHistoryAndLineOfValueThatModelCannotRead()
    {
        final History history = HistoryReader.parse("h.edn", "{:process 0 :type :invoke :f :write :value 1}\n" +
            "{:process 1 :type :invoke :f :cas :value 7}\n{:process 1 :type :ok :f :cas :value 7}");

        assertThatThrownBy(() -> Elle.checkLinearizable(history, Models.casRegister()))
            .isInstanceOf(HistoryException.class)
            .hasMessageStartingWith("h.edn:2: cas needs a pair [a b] but has 7");
    }

    @Test
    void shouldCheckSmallObjectsBeforeOneThatIsTooHard()
    {
        final HistoryBuilder builder = new HistoryBuilder();
        for (int process = 0; process < 40; process++)
        {
            builder.invoke(process, "increment", "hard", 1L << process);
        }
        for (int process = 0; process < 40; process++)
        {
            builder.ok(process, null);
        }
        builder.invoke(0, "get", "hard", null).ok(0, 7L);
        builder.invoke(0, "get", "easy", null).ok(0, 1L);

        final LinearVerdict verdict = Elle.checkLinearizable(
            builder.build(), Models.kvMap(), LinearOptions.defaults().withMaxStates(5_000).withThreads(1));

        assertThat(verdict.validity()).isEqualTo(Validity.INVALID);
        assertThat(verdict.failures()).extracting(PartVerdict::object).isEqualTo(List.of("easy"));
        assertThat(verdict.parts()).extracting(PartVerdict::validity).contains(Validity.UNKNOWN);
    }

    @Test
    void shouldNotClaimPrefixThatItHadNoTimeToOrder()
    {
        final History history = new RegisterHistoryGenerator(1, 1, 20).badAtEnd().generate(10_000);
        // The search of this history ends before its third look at the clock, those for the explanation do not.
        final long[] nowNs = new long[1];
        final LinearOptions options = new LinearOptions(5, 1 << 20, 1, () -> nowNs[0]++);

        final LinearVerdict verdict = Elle.checkLinearizable(history, Models.register(), options);

        assertThat(verdict.validity()).isEqualTo(Validity.INVALID);
        assertThat(verdict.failures().getFirst().failure().prefixIsOrdered()).isFalse();
        assertThat(verdict.explanation()).contains("is not known: a bound was hit");
    }
}
