package io.verbena.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The checkout these tests run in, for the tests that read it.
 */
public final class SourceTree
{
    private SourceTree()
    {
    }

    /**
     * The folder with the parent POM and the launcher.
     */
    public static Path root()
    {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.isRegularFile(folder.resolve("verbena")) || !Files.isRegularFile(folder.resolve("pom.xml")))
        {
            folder = folder.getParent();
            if (folder == null)
            {
                throw new IllegalStateException("not inside a Verbena checkout: " + Path.of("").toAbsolutePath());
            }
        }
        return folder;
    }

    /**
     * Each file of the tree whose name ends so, without what a build or git made.
     */
    static List<Path> files(final String suffix)
    {
        try (Stream<Path> walk = Files.walk(root()))
        {
            return walk.filter(file -> file.toString().endsWith(suffix) && isSource(root().relativize(file)))
                .sorted().toList();
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    public static String text(final Path file)
    {
        try
        {
            return Files.readString(file);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    private static boolean isSource(final Path relative)
    {
        for (final Path part : relative)
        {
            final String name = part.toString();
            if (name.equals("target") || name.equals(".verbena") || name.equals(".git") || name.equals(".idea"))
            {
                return false;
            }
        }
        return true;
    }
}
