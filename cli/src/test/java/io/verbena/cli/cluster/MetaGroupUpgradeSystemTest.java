package io.verbena.cli.cluster;

import io.verbena.cli.SourceTree;
import io.verbena.cli.cluster.ProcessTable.Entry;
import io.verbena.cli.console.CommandFailedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two builds side by side in a group of meta servers, as processes under calls: of one layout of the log they take
 * turns without a loss, of another one the older stops with one line. The newer build is this one, of which one class
 * is compiled again with the next number of the layout, in a folder in front of its class path.
 */
@Timeout(900)
class MetaGroupUpgradeSystemTest
{
    private static final String DESCRIPTOR =
        "meta-server/src/main/java/io/verbena/meta/store/MetaCommandDescriptor.java";
    private static final Pattern VERSION = Pattern.compile("int FORMAT_VERSION = (\\d+);");
    private static final long STEP_NS = TimeUnit.SECONDS.toNanos(150);
    private static final String CLASS_PATH = "java.class.path";

    @TempDir
    private Path directory;
    private int version;

    /** Folder of classes that write the next layout. */
    private Path newerClasses() throws IOException
    {
        final String source = SourceTree.text(SourceTree.root().resolve(DESCRIPTOR));
        final Matcher number = VERSION.matcher(source);
        assertThat(number.find()).isTrue();
        version = Integer.parseInt(number.group(1));
        final Path file = directory.resolve("MetaCommandDescriptor.java");
        Files.writeString(file, number.replaceFirst("int FORMAT_VERSION = " + (version + 1) + ";"));
        final Path classes = Files.createDirectories(directory.resolve("newer"));
        final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        final StringWriter said = new StringWriter();
        assertThat(compiler.getTask(said, null, null, List.of("-d", classes.toString(), "-cp",
            System.getProperty(CLASS_PATH)), null,
            compiler.getStandardFileManager(null, null, null).getJavaFileObjects(file)).call()).as("%s", said).isTrue();
        return classes;
    }

    private static void end(final Entry member) throws Exception
    {
        CalledGroup.signal("TERM", member);
        CalledGroup.awaitEnd(member);
    }

    private static void restart(final CalledGroup group, final Entry member, final Path classes)
    {
        final String before = System.getProperty(CLASS_PATH);
        System.setProperty(CLASS_PATH, classes + ":" + before);
        try
        {
            group.restart(member);
        }
        finally
        {
            System.setProperty(CLASS_PATH, before);
        }
    }

    /** The one line of a member for people. */
    private static String said(final CalledGroup group, final Entry member) throws IOException
    {
        return Files.readAllLines(group.folder().logs().resolve(member.name() + ".log")).stream()
            .filter((line) -> line.startsWith("verbena: ")).reduce((a, b) -> a + "\n" + b).orElse("nothing");
    }

    /** Until those that cannot read what it writes have met it. */
    private static void lead(final CalledGroup group, final Entry member, final List<Entry> others)
    {
        final MountedCluster cluster = new MountedCluster(group.folder().path());
        final long sinceNs = System.nanoTime();
        while (others.stream().allMatch(Entry::isLive))
        {
            assertThat(System.nanoTime() - sinceNs).as("time until %s leads", member.name()).isLessThan(STEP_NS);
            cluster.run("meta", "move-leader", member.name().replace("meta-server", "meta"));
        }
    }

    /** As replacing a build by one of the same layout does it: each is ended in order, the leader last. */
    @Test
    void shouldLoseNothingWhileOneMemberAfterTheOtherIsStartedAgain() throws Exception
    {
        final CalledGroup group = new CalledGroup(directory.resolve("cluster"), "one after the other");
        try (group)
        {
            group.start("upgrade");
            try
            {
                group.beginCalls(new Random(1));
                group.awaitMore();
                final Entry leader = group.awaitLeader();
                for (final Entry member : group.members())
                {
                    if (!member.name().equals(leader.name()))
                    {
                        end(member);
                        group.restart(member);
                        group.awaitMore();
                    }
                }
                end(leader);
                group.awaitMore();
                group.restart(leader);
                group.awaitMore();
            }
            finally
            {
                group.endCalls();
            }
            group.check();
        }
    }

    /** The newer one follows, since it reads what the others write; when it leads, they cannot read what it writes. */
    @Test
    void shouldStopWithOneLineWhatIsOlderThanTheLeaderAndGoOnWithTheNewerBuild() throws Exception
    {
        final Path newer = newerClasses();
        final CalledGroup group = new CalledGroup(directory.resolve("cluster"), "two layouts");
        try (group)
        {
            group.start("layouts");
            try
            {
                group.beginCalls(new Random(2));
                group.awaitMore();
                final Entry leader = group.awaitLeader();
                final Entry first = group.members().stream().filter((entry) -> !entry.name().equals(leader.name()))
                    .findFirst().orElseThrow();
                end(first);
                restart(group, first, newer);
                group.awaitMore();

                final List<Entry> older = group.members().stream()
                    .filter((entry) -> !entry.name().equals(first.name())).toList();
                lead(group, first, older);
                for (final Entry member : older)
                {
                    CalledGroup.awaitEnd(member);
                    assertThat(said(group, member)).hasLineCount(1).contains(
                        "has format version " + (version + 1), "this build knows versions 1 to " + version);
                }
                for (final Entry member : older)
                {
                    restart(group, member, newer);
                }
                group.awaitMore();

                // Another process by now.
                end(group.members().stream().filter((entry) -> entry.name().equals(older.getFirst().name()))
                    .findFirst().orElseThrow());
                assertThatThrownBy(() -> group.restart(older.getFirst())).isInstanceOf(CommandFailedException.class)
                    .hasMessageContaining("has format version " + (version + 1))
                    .hasMessageContaining("this build knows versions 1 to " + version).message().hasLineCount(1);
                restart(group, older.getFirst(), newer);
                group.awaitMore();
            }
            finally
            {
                group.endCalls();
            }
            group.awaitSame();
            assertThat(group.awaitLeader().isLive()).isTrue();
        }
    }
}
