package io.verbena.elle.history;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class HistoryReaderTest
{
    private static final String EDN =
        """
        ; what a comment says
        {:process 0, :type :invoke, :f :write, :value 1, :index 0, :time 10}
        #_ {:process 9, :type :ok, :f :write}
        {:process 1, :type :invoke, :f :read, :value nil, :index 1, :time 12}
        {:process :nemesis, :type :info, :f :kill, :index 2}
        {:process 0, :type :ok, :f :write, :value 1, :index 3, :time 20}
        {:process 1, :type :info, :f :read, :error :timeout, :index 4, :time 30}
        {:process 2, :type :invoke, :f :cas, :key "k", :value [1 2], :index 5, :time 40}
        """;

    private static Object value(final String edn)
    {
        return HistoryReader.parse("t", "{:process 0 :type :invoke :f :x :value " + edn + "}")
            .operations().getFirst().input();
    }

    /** A pipe can be read once only, and not from its beginning again. */
    @Test
    @Timeout(60)
    void shouldReadAHistoryButNoRecordingFromAPipe(@TempDir final Path directory) throws Exception
    {
        final byte[] text = EDN.getBytes(StandardCharsets.UTF_8);
        assertThat(piped(directory.resolve("text"), text).operations()).hasSize(3);
        final Path recording = directory.resolve("recording");
        HistoryRecorder.create(recording).close();
        final byte[] recorded = Files.readAllBytes(recording);
        assertThatThrownBy(() -> piped(directory.resolve("binary"), recorded)).isInstanceOf(HistoryException.class)
            .hasMessageEndingWith("is a recording, which must be a file, not a pipe");
    }

    private static History piped(final Path pipe, final byte[] content) throws Exception
    {
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
        final CompletableFuture<Void> writer = CompletableFuture.runAsync(() ->
        {
            try
            {
                Files.write(pipe, content, StandardOpenOption.WRITE);
            }
            catch (final IOException ex)
            {
                throw new UncheckedIOException(ex);
            }
        });
        final History history = HistoryReader.read(pipe);
        writer.join();
        return history;
    }

    @Test
    void shouldReadEdnLines()
    {
        final History history = HistoryReader.parse("file.edn", EDN);

        assertThat(history.notes()).hasSize(1);
        assertThat(history.operations()).extracting(Operation::toString).containsExactly(
            "process 0: write 1 -> 1", "process 1: read -> unknown", "process 2: cas \"k\" [1 2] -> unknown");
        final Operation write = history.operations().getFirst();
        assertThat(write.callLine()).isEqualTo(2);
        assertThat(write.endLine()).isEqualTo(6);
        assertThat(write.callPosition()).isZero();
        assertThat(write.endPosition()).isEqualTo(2);
        assertThat(write.endTimeNs()).isEqualTo(20);
        assertThat(history.operations().get(2).endPosition()).isEqualTo(Operation.NEVER);
        assertThat(write.precedes(history.operations().get(2))).isTrue();
        assertThat(history.operations().get(1).precedes(history.operations().get(2))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "[{:process 0 :type :invoke :f :read :value nil}\n {:process 0 :type :ok :f :read :value 3}]",
        "({:process 0 :type :invoke :f :read} {:process 0 :type :ok :f :read :value 3})",
        "#jepsen.history.Op{:process 0 :type :invoke :f :read :value nil}\n" +
            "#jepsen.history.Op{:process 0 :type :ok :f :read :value 3}",
        "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\",\"value\":null}\n" +
            "{\"process\": 0, \"type\": \"ok\", \"f\": \"read\", \"value\": 3}\n",
        " [ {\"process\":0,\"type\":\"invoke\",\"f\":\"read\"},\r\n{\"process\":0,\"type\":\"ok\",\"value\":3} ]\r\n"})
    void shouldReadSameHistoryFromEachShape(final String text)
    {
        final List<Operation> operations = HistoryReader.parse("t", text).operations();

        assertThat(operations).extracting(Operation::toString).containsExactly("process 0: read -> 3");
    }

    @Test
    void shouldReadAllKindsOfValues()
    {
        assertThat(value("nil")).isNull();
        assertThat(value("true")).isEqualTo(true);
        assertThat(value("-9223372036854775808")).isEqualTo(Long.MIN_VALUE);
        assertThat(value("9223372036854775808")).isEqualTo(BigInteger.ONE.shiftLeft(63));
        assertThat(value("12N")).isEqualTo(12L);
        assertThat(value("+7")).isEqualTo(7L);
        assertThat(value("-1.5e3")).isEqualTo(-1500.0);
        assertThat(value("\"a\\n\\\"\\u00e9é\"")).isEqualTo("a\n\"éé");
        assertThat(value(":a/b")).isEqualTo(new Keyword("a/b"));
        assertThat(value("foo")).isEqualTo(new Symbol("foo"));
        assertThat(value("\\a")).isEqualTo("a");
        assertThat(value("\\newline")).isEqualTo("\n");
        assertThat(value("[[:append 1 2] [:r 1 nil]]")).isEqualTo(List.of(
            List.of(new Keyword("append"), 1L, 2L), Arrays.asList(new Keyword("r"), 1L, null)));
        assertThat(value("(1 #_ 2 3)")).isEqualTo(List.of(1L, 3L));
        assertThat(value("#{1 2}")).isEqualTo(new LinkedHashSet<>(List.of(1L, 2L)));
        assertThat(value("{:a {1 2}}")).isEqualTo(Map.of(new Keyword("a"), Map.of(1L, 2L)));
        assertThat(value("#inst \"2026-01-01\"")).isEqualTo("2026-01-01");
        assertThat(value("##Inf")).isEqualTo(Double.POSITIVE_INFINITY);
    }

    @Test
    void shouldWriteWhatItReads() throws IOException
    {
        final String values = "[nil true -3 2.5 \"a\\\"\\\\b\\n\" :k [#{1} {:a \"b\"}]]";
        final History history = HistoryReader.parse("t", EDN.replace(":value 1,", ":value " + values + ","));
        final StringBuilder edn = new StringBuilder();
        final StringBuilder json = new StringBuilder();
        EdnWriter.write(history, edn);
        JsonWriter.write(history, json);

        assertThat(HistoryReader.parse("t", edn.toString()).operations())
            .extracting(Operation::toString)
            .isEqualTo(history.operations().stream().map(Operation::toString).toList());
        final History fromJson = HistoryReader.parse("t", json.toString());
        assertThat(fromJson.operations().getFirst().output())
            .isEqualTo(Arrays.asList(null, true, -3L, 2.5, "a\"\\b\n", "k", List.of(List.of(1L), Map.of("a", "b"))));
        assertThat(fromJson.operations().get(2).key()).isEqualTo("k");
        assertThat(fromJson.operations().getFirst().callTimeNs()).isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "{:process 0 :type :ok :f :read :value 1} | 1 | which has no call open",
        "{:process 0 :type :invoke :f :read} ~ {:process 0 :type :invoke :f :read} | 2 | is still open",
        "{:process 0 :type :invoke :f :read} ~ {:process 0 :type :okay :f :read} | 2 | unknown type :okay",
        "{:process 0 :f :read} | 1 | without :type",
        "{:type :invoke :f :read} | 1 | without :process",
        "{:process 0 :type :invoke :f :read} ~ {:process 0 :type :ok :f :write} | 2 | had called read (line 1)",
        "{:process 0 :type :invoke :f :a :key 1} ~ {:process 0 :type :ok :key 2} | 2 | had called it with key 1",
        "{:process 0 :type :invoke :f :a :index 7} ~ {:process 0 :type :ok :f :a :index 7} | 2 | index 7 after index 7",
        "~ {:process 0 :type :invoke :f :read :value [1 2} | 2 | '}' was not expected",
        "{:process 0 ~~ :type :invoke :f :read :value [1 2 | 3 | ends where ']' is missing",
        "{:process 0 :type :invoke :f :read :value \"abc | 1 | ends within a string",
        "{:process 0 :type :invoke :f :read :value 12x} | 1 | not a number: 12x",
        "{:process 0 :type :invoke :f :read} ~ read 3 | 2 | expected an event",
        "[{:process 0 :type :invoke :f :read}] ~ {} | 2 | text after the end",
        "{\"process\":0,\"type\":\"invoke\",\"f\":\"a\"} ~ {\"process\":0,\"type\":\"ok\",\"value\":oops} | 2 | oops",
        "{:process 0 :type :invoke :f 7} | 1 | must be a keyword",
        "{:process 99999999999 :type :invoke :f :read} | 1 | out of range"})
    void shouldNameLineOfBrokenHistory(final String text, final int line, final String what)
    {
        assertThatThrownBy(() -> HistoryReader.parse("h.edn", text.replace('~', '\n')))
            .isInstanceOf(HistoryException.class)
            .hasMessageStartingWith("h.edn:" + line + ": ")
            .hasMessageContaining(what);
    }

    @Test
    void shouldRefuseHistoryWithoutOperations()
    {
        assertThatThrownBy(() -> HistoryReader.parse("h.edn", "; nothing\n"))
            .isInstanceOf(HistoryException.class).hasMessageContaining("no operation");
    }

    @Test
    void shouldRefuseValueNestedTooDeep()
    {
        assertThatThrownBy(() -> value("[".repeat(100_000)))
            .isInstanceOf(HistoryException.class).hasMessageContaining("nested deeper");
        assertThatThrownBy(() -> value("#_".repeat(100_000)))
            .isInstanceOf(HistoryException.class).hasMessageContaining("nested deeper");
        assertThatThrownBy(() -> value("#a ".repeat(100_000)))
            .isInstanceOf(HistoryException.class).hasMessageContaining("nested deeper");
    }

    @Test
    void shouldReadFileAndRefuseOneThatIsNoText(@TempDir final Path folder) throws IOException
    {
        final Path good = Files.writeString(folder.resolve("good"), "\uFEFF" + EDN);
        final Path bad = Files.write(folder.resolve("bad"), "{:process \u00e9".getBytes(StandardCharsets.ISO_8859_1));

        assertThat(HistoryReader.read(good).operations()).hasSize(3);
        assertThatThrownBy(() -> HistoryReader.read(bad)).hasMessageContaining("no UTF-8");
    }
}
