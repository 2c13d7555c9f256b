package io.verbena.rocksdb;

import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

import java.nio.file.Path;

/** A process that loads the library by way of a folder, and opens a database. */
final class DatabaseOpener
{
    private DatabaseOpener()
    {
    }

    public static void main(final String[] arguments) throws RocksDBException
    {
        RocksLibrary.load(Path.of(arguments[0]));
        RocksLibrary.load(Path.of(arguments[0]));
        try (Options options = new Options().setCreateIfMissing(true);
            RocksDB database = RocksDB.open(options, arguments[1]))
        {
            database.put(new byte[]{1}, new byte[]{2});
        }
        System.out.println("opened");
    }
}
