//! Adapts block ciphers that are implemented with lookup tables to RustCrypto's traits: one block at a time, or eight
//! in parallel.

use cipher::array::ArraySize;
use cipher::consts::U8;
use cipher::{
    Array, Block, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    ParBlocks, ParBlocksSizeUser,
};

/// A block cipher with a key, implemented with lookup tables.
pub(crate) trait TableCipher {
    /// The size of a block.
    type Size: ArraySize<ArrayType<u8>: Copy>;

    /// Encrypts several blocks in parallel, round by round, which uses the processor better than one block alone.
    fn encrypt<const N: usize>(&self, blocks: [Array<u8, Self::Size>; N]) -> [Array<u8, Self::Size>; N];

    /// Encrypts one block with the lowest latency, for modes in which the next block depends on it.
    #[inline(always)]
    fn encrypt_one(&self, block: Array<u8, Self::Size>) -> Array<u8, Self::Size> {
        let [block] = self.encrypt([block]);
        block
    }
}

/// Implements RustCrypto's traits for a [`TableCipher`].
pub(crate) struct BlockCipher<T>(pub(crate) T);

impl<T: TableCipher> BlockSizeUser for BlockCipher<T> {
    type BlockSize = T::Size;
}

impl<T: TableCipher> ParBlocksSizeUser for BlockCipher<T> {
    type ParBlocksSize = U8;
}

impl<T: TableCipher> BlockCipherEncrypt for BlockCipher<T> {
    #[inline]
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = T::Size>) {
        f.call(self);
    }
}

impl<T: TableCipher> BlockCipherEncBackend for BlockCipher<T> {
    #[inline(always)]
    fn encrypt_block(&self, mut block: InOut<'_, '_, Block<Self>>) {
        *block.get_out() = self.0.encrypt_one(*block.get_in());
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, mut blocks: InOut<'_, '_, ParBlocks<Self>>) {
        blocks.get_out().0 = self.0.encrypt(blocks.get_in().0);
    }
}
