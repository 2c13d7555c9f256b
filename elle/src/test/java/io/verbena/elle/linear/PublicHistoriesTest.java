package io.verbena.elle.linear;

import io.verbena.elle.Validity;
import io.verbena.elle.check.Elle;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.Event;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;
import io.verbena.elle.history.HistoryReader;
import io.verbena.elle.history.Operation;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.ThrowingConsumer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Histories that other tools publish, with the verdicts they publish. They are not kept here: clone the repositories
 * that {@code docs/elle-trust.md} names side by side and give their folder as {@code -Dverbena.elle.histories}.
 */
class PublicHistoriesTest
{
    private static final String FOLDER = System.getProperty("verbena.elle.histories");

    /** The etcd logs that Porcupine's tests expect to be linearizable; the others are not, and number 95 is empty. */
    private static final Set<Integer> GOOD_ETCD_LOGS = Set.of(2, 5, 7, 18, 25, 31, 38, 45, 48, 49, 51, 53, 56, 67, 75,
        76, 80, 87, 92, 98, 100, 101, 102);
    /** Events of the nemesis only: the reader refuses it, for a history without operations would pass every check. */
    private static final String WITHOUT_OPERATIONS = "mongodb-v0-ack-rollback-.edn";
    private static final Pattern ETCD_LINE = Pattern.compile(
        "INFO +jepsen\\.util - (\\d+)\\s+:(\\w+)\\s+:(\\w+)\\s+(.*)");
    private static final Pattern FILE_NUMBER = Pattern.compile("\\d+");

    @TestFactory
    Stream<DynamicTest> shouldAgreeWithPorcupineOnKeyValueHistories() throws IOException
    {
        return each("porcupine/test_data/kv", ".txt", file ->
            check(HistoryReader.read(file), Models.kvMap(), file.toString().endsWith("-ok.txt")));
    }

    @TestFactory
    Stream<DynamicTest> shouldAgreeWithPorcupineOnEtcdLogs() throws IOException
    {
        return each("porcupine/test_data/jepsen", ".log", file ->
            check(etcdLog(file), Models.casRegister(), GOOD_ETCD_LOGS.contains(number(file))));
    }

    @TestFactory
    Stream<DynamicTest> shouldAgreeWithKnossosOnCasRegisters() throws IOException
    {
        return each("knossos/data/cas-register", ".edn", file ->
            check(HistoryReader.read(file), Models.casRegister(), file.getParent().endsWith("good")));
    }

    @TestFactory
    Stream<DynamicTest> shouldAgreeWithKnossosOnMutexes() throws IOException
    {
        return each("knossos/data/mutex", ".edn", file ->
            check(HistoryReader.read(file), Models.mutex(), file.getParent().endsWith("good")));
    }

    @TestFactory
    Stream<DynamicTest> shouldAgreeWithElleCliOnJson() throws IOException
    {
        return each("elle-cli/histories/knossos", ".json", file ->
            check(HistoryReader.read(file), file.toString().contains("mutex") ? Models.mutex() : Models.casRegister(),
                file.getParent().endsWith("good")));
    }

    /** One test for each file; where there are none, one that is counted as skipped. */
    private static Stream<DynamicTest> each(
        final String folder, final String suffix, final ThrowingConsumer<Path> check) throws IOException
    {
        final Path path = Path.of(FOLDER == null ? "" : FOLDER, folder);
        if (!Files.isDirectory(path))
        {
            return Stream.of(DynamicTest.dynamicTest(folder, () ->
                assumeTrue(false, "no public histories: give their folder as -Dverbena.elle.histories")));
        }
        try (Stream<Path> files = Files.walk(path))
        {
            final List<Path> found = files.filter(file -> file.toString().endsWith(suffix))
                .filter(file -> file.toFile().length() > 0 && !file.endsWith(WITHOUT_OPERATIONS)).sorted().toList();
            assertThat(found).as("%s files in %s", suffix, path).isNotEmpty();
            return found.stream().map(file -> DynamicTest.dynamicTest(file.toString(), () -> check.accept(file)));
        }
    }

    private static void check(final History history, final Model<?> model, final boolean isGood)
    {
        final LinearVerdict verdict = Elle.checkLinearizable(history, model);
        assertThat(verdict.validity()).as("%s", verdict.explanation())
            .isEqualTo(isGood ? Validity.VALID : Validity.INVALID);
    }

    private static int number(final Path file)
    {
        final Matcher matcher = FILE_NUMBER.matcher(file.getFileName().toString());
        assertThat(matcher.find()).isTrue();
        return Integer.parseInt(matcher.group());
    }

    /** Jepsen's console log, where a read of a missing key is nil and an outcome not known is {@code :info}. */
    private static History etcdLog(final Path file) throws IOException
    {
        final HistoryBuilder builder = new HistoryBuilder(file.toString());
        for (final String line : Files.readAllLines(file))
        {
            final Matcher matcher = ETCD_LINE.matcher(line);
            if (matcher.matches())
            {
                final EventType type = EventType.ofWord(matcher.group(2));
                final Object value = type == EventType.INFO ? null : HistoryReader.parse("value",
                    "{:process 0 :type :invoke :f :x :value " + matcher.group(4) + "}").operations().getFirst().input();
                builder.add(new Event(Integer.valueOf(matcher.group(1)), type, matcher.group(3), null, value,
                    Operation.NO_TIME, -1, 0));
            }
        }
        return builder.build();
    }
}
