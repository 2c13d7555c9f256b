package io.verbena.load.ycsb;

import io.verbena.load.LoadException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.workloads.CoreWorkload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class WorkloadPropertiesTest
{
    @TempDir
    private Path folder;

    @Test
    void shouldHaveProportionsThatMakeOne()
    {
        for (final String name : WorkloadProperties.NAMES)
        {
            final Properties properties = WorkloadProperties.named(name);
            double sum = 0;
            for (final String proportion : List.of(CoreWorkload.READ_PROPORTION_PROPERTY,
                CoreWorkload.UPDATE_PROPORTION_PROPERTY, CoreWorkload.INSERT_PROPORTION_PROPERTY,
                CoreWorkload.READMODIFYWRITE_PROPORTION_PROPERTY, CoreWorkload.SCAN_PROPORTION_PROPERTY))
            {
                sum += Double.parseDouble(properties.getProperty(proportion));
            }
            assertThat(sum).as(name).isEqualTo(1.0);
            assertThat(WorkloadProperties.recordCount(properties)).isEqualTo(100_000);
        }
    }

    @Test
    void shouldRefuseAnUnknownWorkloadAndTheOneThatScans()
    {
        assertRefused(LoadException.Reason.USAGE, () -> WorkloadProperties.named("x"), "'x'", "a, b, c, d, f");
        assertRefused(LoadException.Reason.USAGE, () -> WorkloadProperties.named("e"), "scan");
    }

    @Test
    void shouldReadAPropertyFile() throws IOException
    {
        final Path file = write("recordcount=123\nworkload=com.yahoo.ycsb.workloads.CoreWorkload\nreadproportion=1\n");

        assertThat(WorkloadProperties.recordCount(WorkloadProperties.read(file))).isEqualTo(123);
    }

    @Test
    void shouldRefuseAFileThatCannotBeRead() throws IOException
    {
        assertRefused(LoadException.Reason.BAD_DATA,
            () -> WorkloadProperties.read(folder.resolve("missing")), "missing", "no such file");
        assertRefused(LoadException.Reason.BAD_DATA, () -> WorkloadProperties.read(folder), "is a folder");
        final Path bad = write("name=\\u12");
        assertRefused(LoadException.Reason.BAD_DATA, () -> WorkloadProperties.read(bad), "cannot be read");
        final Path binary = Files.write(folder.resolve("binary"), new byte[]{(byte)0xFF, (byte)0xFE, 0});
        assertRefused(LoadException.Reason.BAD_DATA, () -> WorkloadProperties.read(binary), "cannot be read");
    }

    @Test
    void shouldRefuseWhatCannotBeRun() throws IOException
    {
        for (final List<String> bad : List.of(
            List.of("recordcount=many", "not a number"),
            List.of("recordcount=0", "out of range"),
            List.of("readproportion=2", "out of range"),
            List.of("fieldlength=-1", "out of range"),
            List.of("scanproportion=0.95", "scan"),
            List.of("workload=site.ycsb.workloads.TimeSeriesWorkload", "not the core workload")))
        {
            final Path file = write(bad.getFirst());
            assertRefused(
                LoadException.Reason.BAD_DATA, () -> WorkloadProperties.read(file), bad.getFirst(), bad.get(1));
        }
    }

    private Path write(final String content) throws IOException
    {
        return Files.writeString(folder.resolve("test.properties"), content);
    }

    private static void assertRefused(
        final LoadException.Reason reason, final ThrowingCallable call, final String... words)
    {
        assertThatThrownBy(call).isInstanceOfSatisfying(LoadException.class, ex ->
        {
            assertThat(ex.reason()).isEqualTo(reason);
            assertThat(ex.getMessage()).contains(words).doesNotContain("\n");
        });
    }
}
