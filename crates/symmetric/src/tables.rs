//! What block ciphers by tables have in common: one block at a time as fast as one can follow the other, or eight side by
//! side, as RustCrypto's traits ask for them.

use cipher::array::ArraySize;
use cipher::consts::U8;
use cipher::{
    Array, Block, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut,
    ParBlocks, ParBlocksSizeUser,
};

/// A block cipher by tables, with a key.
pub(crate) trait Tables {
    /// The size of a block.
    type Size: ArraySize<ArrayType<u8>: Copy>;

    /// Encrypts blocks side by side, round by round: one block alone leaves most of the processor idle.
    fn encrypt<const N: usize>(&self, blocks: [Array<u8, Self::Size>; N]) -> [Array<u8, Self::Size>; N];

    /// Encrypts a block that the next one waits for.
    #[inline(always)]
    fn encrypt_one(&self, block: Array<u8, Self::Size>) -> Array<u8, Self::Size> {
        let [block] = self.encrypt([block]);
        block
    }
}

/// A block cipher by tables, as a block cipher.
pub(crate) struct ByTables<T>(pub(crate) T);

impl<T: Tables> BlockSizeUser for ByTables<T> {
    type BlockSize = T::Size;
}

impl<T: Tables> ParBlocksSizeUser for ByTables<T> {
    type ParBlocksSize = U8;
}

impl<T: Tables> BlockCipherEncrypt for ByTables<T> {
    #[inline]
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = T::Size>) {
        f.call(self);
    }
}

impl<T: Tables> BlockCipherEncBackend for ByTables<T> {
    #[inline(always)]
    fn encrypt_block(&self, mut block: InOut<'_, '_, Block<Self>>) {
        *block.get_out() = self.0.encrypt_one(*block.get_in());
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, mut blocks: InOut<'_, '_, ParBlocks<Self>>) {
        blocks.get_out().0 = self.0.encrypt(blocks.get_in().0);
    }
}
